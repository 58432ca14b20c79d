// Package rules says what becomes of the rows of a source: a mapping, which people edit.
package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// What becomes of a record.
const (
	AsPool        = "pool"
	AsClaim       = "claim"
	AsAuto        = "auto"        // a pool if there is something in it or nothing around it, or else a claim
	AsReservation = "reservation" // of the pool around it
	AsClaims      = "claims"      // of a range: as many blocks as it takes
	AsSkip        = "skip"
)

// What to do with records of which only one can be taken.
const (
	Refuse = "refuse" // nothing is imported
	Skip   = "skip"   // none of them
	First  = "first"  // the one that comes first in the source
	Narrow = "narrow" // of overlaps: the smaller block, and ranges are cut around it
)

// Mapping says what becomes of the records of a source. It is a file that people edit.
type Mapping struct {
	Source string `yaml:"source"`
	// SpaceBy are the fields whose values together say which routing domain a record is in.
	SpaceBy []string `yaml:"spaceBy,flow"`
	// Spaces are where each of them goes; others go to a space that is called like them.
	Spaces map[string]SpaceMapping `yaml:"spaces"`
	// Rules are asked in order; the first that matches is taken.
	Rules []Rule `yaml:"rules"`
	// Labels and Annotations are keys, and the fields that have their values.
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	// Columns are other names of columns of a CSV file: what ipamctl calls it, and what the file does.
	Columns map[string]string `yaml:"columns,omitempty"`
	// Roots are pools that are made around everything else.
	Roots       []Root `yaml:"roots"`
	OnDuplicate string `yaml:"onDuplicate"`
	OnOverlap   string `yaml:"onOverlap"`
}

// SpaceMapping is where a routing domain of the source goes.
type SpaceMapping struct {
	Space   string `yaml:"space"`
	Project string `yaml:"project,omitempty"`
	Skip    bool   `yaml:"skip,omitempty"`
}

// Rule says what becomes of the records that match.
type Rule struct {
	// Match are fields and the values that they may have, with commas between; all must match, and * is any that is there.
	Match map[string]string `yaml:"match,flow"`
	As    string            `yaml:"as"`
	// Name is a template: {field} is its value, {a|b} the first that there is.
	Name   string            `yaml:"name,omitempty"`
	Labels map[string]string `yaml:"labels,omitempty,flow"`
}

// Root is a pool that is no row of the source.
type Root struct {
	Name    string `yaml:"name"`
	CIDR    string `yaml:"cidr"`
	Space   string `yaml:"space,omitempty"`
	Project string `yaml:"project,omitempty"`
}

// Preset is the mapping of a source that is taken unless another one is given.
func Preset(of string) Mapping {
	m := Mapping{
		Source: of, SpaceBy: []string{"space"}, Spaces: map[string]SpaceMapping{"": {Space: "default"}},
		Labels: map[string]string{"status": "status"}, Annotations: map[string]string{"description": "description", "source-row": "id", "source-id": "source-id", "source-name": "name"},
		OnDuplicate: Refuse, OnOverlap: Refuse,
		Rules: []Rule{
			{Match: map[string]string{"kind": "aggregate"}, As: AsPool, Name: "{name|block}"},
			{Match: map[string]string{"kind": "prefix"}, As: AsAuto, Name: "{name|block}"},
			{Match: map[string]string{"kind": "address"}, As: AsClaim, Name: "{name|block}"},
			{Match: map[string]string{"kind": "range"}, As: AsReservation},
		},
	}
	switch of {
	case "netbox":
		m.SpaceBy, m.Rules[1].As = []string{"vrf"}, AsPool
		for _, field := range []string{"tenant", "role", "site", "rir"} {
			m.Labels[field] = field
		}
	case "phpipam":
		m.SpaceBy, m.Rules[1].As = []string{"vrf"}, AsPool
		for _, field := range []string{"section", "vlan", "customer", "device", "owner"} {
			m.Labels[field] = field
		}
	case "infoblox":
		m.SpaceBy, m.Rules[1].As = []string{"network_view"}, AsPool
		m.Labels["type"], m.Labels["site"] = "type", "site"
		m.Annotations["mac"] = "mac_address"
	case "aws":
		m.SpaceBy = []string{"scope"}
		m.Spaces["private"] = SpaceMapping{Space: "default"}
		m.Rules = slices.Insert(m.Rules, 1,
			Rule{Match: map[string]string{"type": "ipam-pool", "status": "pending-provision,failed-provision,failed-import,deprovisioned"}, As: AsSkip},
			Rule{Match: map[string]string{"kind": "prefix", "type": "ipam-pool"}, As: AsPool, Name: "{name|block}"})
		for _, field := range []string{"type", "region", "locale", "owner", "service", "services"} {
			m.Labels[field] = field
		}
	case "whereabouts":
		m.Rules[1].As = AsPool
		m.Annotations["pod"] = "pod"
	case "plan":
		m = Mapping{Source: of, OnDuplicate: Refuse, OnOverlap: Refuse}
	}
	return m
}

// Read reads a mapping that somebody has edited.
func Read(path, of string, text []byte) (Mapping, error) {
	m := Mapping{OnDuplicate: Refuse, OnOverlap: Refuse}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		return m, exit.Usagef("%s: it is no mapping: %v", path, err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return m, exit.Usagef("%s: it holds more than one document: a mapping is one", path)
	}
	switch m.Source {
	case of:
	case "":
		return m, exit.Usagef("%s: it does not say which source it is for: add `source: %s`", path, of)
	default:
		return m, exit.Usagef("%s: it is a mapping for %s, and not for %s", path, m.Source, of)
	}
	if err := m.Check(); err != nil {
		return m, exit.Usagef("%s: %v", path, err)
	}
	return m, nil
}

// Check says all that is wrong with the mapping.
func (m Mapping) Check() error {
	var faults []error
	known := []string{AsPool, AsClaim, AsAuto, AsReservation, AsClaims, AsSkip}
	kinds := []source.Kind{"*", source.Aggregate, source.Prefix, source.Address, source.Range, source.Reference}
	for i, r := range m.Rules {
		for kind := range strings.SplitSeq(r.Match["kind"], ",") {
			if r.Match["kind"] != "" && !slices.Contains(kinds, source.Kind(strings.ToLower(strings.TrimSpace(kind)))) {
				faults = append(faults, fmt.Errorf("rules[%d].match.kind is %q: the kinds are aggregate, prefix, address and range", i, kind))
			}
		}
		if !slices.Contains(known, r.As) {
			faults = append(faults, fmt.Errorf("rules[%d].as is %q: it must be one of %s", i, r.As, strings.Join(known, ", ")))
		}
		if strings.Count(r.Name, "{") != strings.Count(r.Name, "}") {
			faults = append(faults, fmt.Errorf("rules[%d].name: %q has a brace that is open", i, r.Name))
		}
	}
	for what, policy := range map[string]string{"onDuplicate": m.OnDuplicate, "onOverlap": m.OnOverlap} {
		if !slices.Contains(Policies(what), policy) {
			faults = append(faults, fmt.Errorf("%s is %q: it must be one of %s", what, policy, strings.Join(Policies(what), ", ")))
		}
	}
	return errors.Join(faults...)
}

// Policies are what may be said of duplicates, and of overlaps.
func Policies(about string) []string {
	all := []string{Refuse, Skip, First}
	if about == "onOverlap" {
		all = append(all, Narrow)
	}
	return all
}

// Write is the mapping as a file to edit, with the routing domains that the source has. Each goes to a space of its own.
func (m Mapping) Write(reading *source.Reading) ([]byte, error) {
	whole := m
	whole.Spaces = maps.Clone(m.Spaces)
	if whole.Spaces == nil {
		whole.Spaces = map[string]SpaceMapping{}
	}
	found := whole.keys(reading.Records)
	if whole.ByDomain() && slices.ContainsFunc(slices.Collect(maps.Values(found)), func(domains map[string]bool) bool { return len(domains) > 1 }) {
		whole.SpaceBy = []string{"routing-domain"} // others do not tell them apart
		found = whole.keys(reading.Records)
	}
	taken := map[string]bool{"default": true}
	for _, s := range whole.Spaces {
		taken[s.Space] = true
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if _, said := whole.Spaces[key]; said {
			continue
		}
		base := Name(key)
		if base == "" {
			base = "space"
		}
		name := base
		for n := 2; taken[name] || name == "space"; n++ {
			name = WithSuffix(base, fmt.Sprint(n))
		}
		taken[name] = true
		whole.Spaces[key] = SpaceMapping{Space: name}
	}
	var b bytes.Buffer
	b.WriteString(mappingHead)
	fmt.Fprintf(&b, "# fields of this source: %s\n", strings.Join(fieldsOf(reading.Records), ", "))
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := errors.Join(e.Encode(whole), e.Close())
	return b.Bytes(), err
}

// keys are the routing domains of a source by the values of `spaceBy`, each with the source's own keys of it.
func (m *Mapping) keys(records []source.Record) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for n := range records {
		r := &records[n]
		if r.Kind == source.Reference || r.Own != nil {
			continue
		}
		key := m.SpaceKey(r)
		if found[key] == nil {
			found[key] = map[string]bool{}
		}
		found[key][r.Domain] = true
	}
	return found
}

// fieldsOf are the fields that rows of a source have.
func fieldsOf(records []source.Record) []string {
	seen := map[string]bool{"kind": true, "name": true, "status": true, "id": true, "block": true, "address": true, "length": true, "routing-domain": true}
	for n := range records {
		if records[n].Kind == source.Reference {
			continue
		}
		for name := range records[n].Fields.All() {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

const mappingHead = `# What becomes of each row: 'ipamctl import ` + "SOURCE --mapping THIS FILE ...'" + `. docs/import.md explains it.
# as: pool | claim | auto | reservation | claims | skip. The first rule that matches is taken.
# name: {field} is its value, {a|b} the first of them that is there. labels and annotations: key in Carve: field of the source.
# onDuplicate: refuse | skip | first. onOverlap: refuse | skip | first | narrow.
`

// SpaceKey is the routing domain of a record, as the source calls it.
func (m *Mapping) SpaceKey(r *source.Record) string {
	var parts []string
	for _, field := range m.SpaceBy {
		if value := r.Field(field); value != "" {
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, "/")
}

// RuleOf is the place of the rule that a record matches.
func (m *Mapping) RuleOf(r *source.Record) (at int, found bool) {
	for at := range m.Rules {
		matches := true
		for field, want := range m.Rules[at].Match {
			value := r.Field(field)
			matches = matches && (value != "" && want == "*" || slices.ContainsFunc(strings.Split(want, ","), func(one string) bool {
				return strings.EqualFold(strings.TrimSpace(one), value)
			}))
		}
		if matches {
			return at, true
		}
	}
	return 0, false
}

// Unsteady reports whether a value says nothing of the thing that has it: the line where a row was found, and the marks of mirrors.
func (m Mapping) Unsteady(key, value string) bool {
	return strings.HasPrefix(key, OurKeys) || m.Annotations[key] == "id" && source.OfLine(value)
}

// OurKeys are what keys of labels and annotations begin with that ipamctl writes for itself.
const OurKeys = "ipamctl.carve/"

// LabelKeys are the labels of which a mapping speaks.
func (m Mapping) LabelKeys() []string {
	keys := slices.Collect(maps.Keys(m.Labels))
	for _, r := range m.Rules {
		keys = slices.AppendSeq(keys, maps.Keys(r.Labels))
	}
	return keys
}

// domainFields are fields that say in which routing domain a row is.
var domainFields = []string{"routing-domain", "vrf", "vrf.rd", "vrf.id", "network_view", "scope", "scope.id", "space"}

// ByDomain reports whether spaces are told apart by routing domains of the source, and not by something else that the mapping prefers.
func (m *Mapping) ByDomain() bool {
	return slices.ContainsFunc(m.SpaceBy, func(field string) bool { return slices.Contains(domainFields, field) })
}

// Use is a place of a mapping that names a field.
type Use struct{ Where, Field string }

// Uses are all places that name fields.
func (m *Mapping) Uses() (all []Use) {
	add := func(where, field string) { all = append(all, Use{where, field}) }
	for _, name := range m.SpaceBy {
		add("spaceBy", name)
	}
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		add("labels."+key, m.Labels[key])
	}
	for _, key := range slices.Sorted(maps.Keys(m.Annotations)) {
		add("annotations."+key, m.Annotations[key])
	}
	for n, r := range m.Rules {
		for _, name := range slices.Sorted(maps.Keys(r.Match)) {
			add(fmt.Sprintf("rules[%d].match", n), name)
		}
		for _, hole := range field.FindAllStringSubmatch(r.Name, -1) {
			for name := range strings.SplitSeq(hole[1], "|") {
				add(fmt.Sprintf("rules[%d].name", n), strings.TrimSpace(name))
			}
		}
	}
	return all
}
