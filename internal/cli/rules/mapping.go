// Package rules decides which objects an import creates from the rows of a source. The rules are in a mapping file that users edit.
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

// These are the results of a rule.
const (
	AsPool        = "pool"
	AsClaim       = "claim"
	AsAuto        = "auto"        // a pool if it contains other rows or if no pool contains it, and otherwise a claim
	AsReservation = "reservation" // a reservation of the pool that contains it
	AsClaims      = "claims"      // for a range: as many claims as are necessary
	AsSkip        = "skip"
)

// These are the policies for records that cannot all be imported, because they are duplicates or overlap.
const (
	Refuse = "refuse" // import nothing
	Skip   = "skip"   // import none of these records
	First  = "first"  // import the first of these records in the source
	Narrow = "narrow" // for overlaps: import the smaller block, and split ranges around it
)

// Mapping defines the objects that an import creates from the records of a source. Users edit it as a file.
type Mapping struct {
	Source string `yaml:"source"`
	// SpaceBy lists fields. Their values together identify the routing domain of a record.
	SpaceBy []string `yaml:"spaceBy,flow"`
	// Spaces maps routing domains to spaces. A domain without an entry gets a space with the domain's name.
	Spaces map[string]SpaceMapping `yaml:"spaces"`
	// Rules apply in order. The first rule that matches a record decides.
	Rules []Rule `yaml:"rules"`
	// Labels and Annotations map a key to the field that has its value.
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	// Columns maps ipamctl's name of a CSV column to the column's name in the file.
	Columns map[string]string `yaml:"columns,omitempty"`
	// Roots lists pools that the import creates around all other objects.
	Roots       []Root `yaml:"roots"`
	OnDuplicate string `yaml:"onDuplicate"`
	OnOverlap   string `yaml:"onOverlap"`
}

// SpaceMapping is the space for the records of a routing domain.
type SpaceMapping struct {
	Space   string `yaml:"space"`
	Project string `yaml:"project,omitempty"`
	Skip    bool   `yaml:"skip,omitempty"`
}

// Rule defines the object that an import creates from a matching record.
type Rule struct {
	// Match maps fields to their allowed values, separated by commas. All fields must match. * matches any value that is not empty.
	Match map[string]string `yaml:"match,flow"`
	As    string            `yaml:"as"`
	// Name is a template. {field} becomes the value of a field. {a|b} becomes the first value of these fields that is not empty.
	Name   string            `yaml:"name,omitempty"`
	Labels map[string]string `yaml:"labels,omitempty,flow"`
}

// Root is a pool that does not come from a row of the source.
type Root struct {
	Name    string `yaml:"name"`
	CIDR    string `yaml:"cidr"`
	Space   string `yaml:"space,omitempty"`
	Project string `yaml:"project,omitempty"`
}

// Preset returns the default mapping for a source.
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

// Read reads a mapping that a user has edited.
func Read(path, of string, text []byte) (Mapping, error) {
	m := Mapping{OnDuplicate: Refuse, OnOverlap: Refuse}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		return m, exit.Usagef("%s: it is not a mapping: %v", path, err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return m, exit.Usagef("%s: it contains more than one document: a mapping is one document", path)
	}
	switch m.Source {
	case of:
	case "":
		return m, exit.Usagef("%s: it does not name its source: add `source: %s`", path, of)
	default:
		return m, exit.Usagef("%s: it is a mapping for %s, not for %s", path, m.Source, of)
	}
	if err := m.Check(); err != nil {
		return m, exit.Usagef("%s: %v", path, err)
	}
	return m, nil
}

// Check returns all faults of the mapping.
func (m Mapping) Check() error {
	var faults []error
	known := []string{AsPool, AsClaim, AsAuto, AsReservation, AsClaims, AsSkip}
	kinds := []source.Kind{"*", source.Aggregate, source.Prefix, source.Address, source.Range, source.Reference}
	for i, r := range m.Rules {
		for kind := range strings.SplitSeq(r.Match["kind"], ",") {
			if r.Match["kind"] != "" && !slices.Contains(kinds, source.Kind(strings.ToLower(strings.TrimSpace(kind)))) {
				faults = append(faults, fmt.Errorf("rules[%d].match.kind is %q: use aggregate, prefix, address or range", i, kind))
			}
		}
		if !slices.Contains(known, r.As) {
			faults = append(faults, fmt.Errorf("rules[%d].as is %q: it must be one of %s", i, r.As, strings.Join(known, ", ")))
		}
		if strings.Count(r.Name, "{") != strings.Count(r.Name, "}") {
			faults = append(faults, fmt.Errorf("rules[%d].name: %q has an unclosed brace", i, r.Name))
		}
	}
	for what, policy := range map[string]string{"onDuplicate": m.OnDuplicate, "onOverlap": m.OnOverlap} {
		if !slices.Contains(Policies(what), policy) {
			faults = append(faults, fmt.Errorf("%s is %q: it must be one of %s", what, policy, strings.Join(Policies(what), ", ")))
		}
	}
	return errors.Join(faults...)
}

// Policies returns the valid policies for a setting, which is onDuplicate or onOverlap.
func Policies(about string) []string {
	all := []string{Refuse, Skip, First}
	if about == "onOverlap" {
		all = append(all, Narrow)
	}
	return all
}

// Write returns the mapping as a file that the user can edit. The file lists the routing domains of the source and maps each one to a separate space.
func (m Mapping) Write(reading *source.Reading) ([]byte, error) {
	whole := m
	whole.Spaces = maps.Clone(m.Spaces)
	if whole.Spaces == nil {
		whole.Spaces = map[string]SpaceMapping{}
	}
	found := whole.keys(&reading.Records)
	if whole.ByDomain() && slices.ContainsFunc(slices.Collect(maps.Values(found)), func(domains map[string]bool) bool { return len(domains) > 1 }) {
		whole.SpaceBy = []string{"routing-domain"} // the other fields do not distinguish the domains
		found = whole.keys(&reading.Records)
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
	fmt.Fprintf(&b, "# fields of this source: %s\n", strings.Join(fieldsOf(&reading.Records), ", "))
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := errors.Join(e.Encode(whole), e.Close())
	return b.Bytes(), err
}

// keys maps each value of `spaceBy` to the routing domains that have this value in the source.
func (m *Mapping) keys(records *source.Records) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, r := range records.All() {
		if r.Kind == source.Reference || r.Own != nil {
			continue
		}
		key := m.SpaceKey(&r)
		if found[key] == nil {
			found[key] = map[string]bool{}
		}
		found[key][r.Domain] = true
	}
	return found
}

// fieldsOf returns the names of the fields that the rows of a source have.
func fieldsOf(records *source.Records) []string {
	seen := map[string]bool{"kind": true, "name": true, "status": true, "id": true, "block": true, "address": true, "length": true, "routing-domain": true}
	for _, r := range records.All() {
		if r.Kind == source.Reference {
			continue
		}
		for name := range r.Fields.All() {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

const mappingHead = `# Rules for the rows of 'ipamctl import ` + "SOURCE --mapping THIS FILE ...'" + `. docs/import.md explains it.
# as: pool | claim | auto | reservation | claims | skip. The first matching rule applies.
# name: {field} is the value of the field, {a|b} the first existing one. labels and annotations: key in Carve: field of the source.
# onDuplicate: refuse | skip | first. onOverlap: refuse | skip | first | narrow.
`

// SpaceKey returns the values of `spaceBy` in a record. They identify its routing domain.
func (m *Mapping) SpaceKey(r *source.Record) string {
	var parts []string
	for _, field := range m.SpaceBy {
		if value := r.Field(field); value != "" {
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, "/")
}

// RuleOf returns the index of the first rule that matches a record.
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

// Unsteady reports whether a value can change although its object does not change. Examples are the line number of a row and a value that ipamctl
// itself writes.
func (m Mapping) Unsteady(key, value string) bool {
	return strings.HasPrefix(key, OurKeys) || m.Annotations[key] == "id" && source.OfLine(value)
}

// OurKeys is the prefix of the label and annotation keys that ipamctl itself writes.
const OurKeys = "ipamctl.carve/"

// LabelKeys returns the keys of the labels that a mapping sets.
func (m Mapping) LabelKeys() []string {
	keys := slices.Collect(maps.Keys(m.Labels))
	for _, r := range m.Rules {
		keys = slices.AppendSeq(keys, maps.Keys(r.Labels))
	}
	return keys
}

// domainFields lists the fields that can identify the routing domain of a row.
var domainFields = []string{"routing-domain", "vrf", "vrf.rd", "vrf.id", "network_view", "scope", "scope.id", "space"}

// ByDomain reports whether the mapping selects the space of a row by its routing domain.
func (m *Mapping) ByDomain() bool {
	return slices.ContainsFunc(m.SpaceBy, func(field string) bool { return slices.Contains(domainFields, field) })
}

// Use is a position in a mapping that names a field.
type Use struct{ Where, Field string }

// Uses returns all positions that name fields.
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
