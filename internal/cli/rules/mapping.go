// Package rules decides which objects an import creates from a source's rows. The rules are in a mapping file that users edit.
package rules

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// These are a rule's results.
const (
	AsPool        = "pool"
	AsClaim       = "claim"
	AsAuto        = "auto"        // a pool if it contains other rows or if no pool contains it, and otherwise a claim
	AsReservation = "reservation" // a reservation in the pool that contains it
	AsClaims      = "claims"      // for a range: as many claims as are necessary
	AsSkip        = "skip"
)

// These are the policies for records that cannot all be imported, because they are duplicates or overlap.
const (
	Refuse = "refuse" // import nothing
	Skip   = "skip"   // import none of them
	First  = "first"  // import the record that comes first in the source
	Narrow = "narrow" // for overlaps: import the smaller block, and split ranges around it
)

// Mapping defines the objects that an import creates from a source's records. Users edit it as a file.
type Mapping struct {
	Source string `yaml:"source"`
	// SpaceBy lists fields. Their values together identify a record's routing domain.
	SpaceBy []string `yaml:"spaceBy,flow"`
	// Spaces maps routing domains to spaces. A domain without an entry gets a space with the domain's name.
	Spaces map[string]SpaceMapping `yaml:"spaces"`
	// Rules apply in order. The first rule that matches a record decides.
	Rules []Rule `yaml:"rules"`
	// Labels and Annotations map a key to the field that has its value.
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	// Columns maps ipamctl's name for a CSV column to the column's title in the file.
	Columns map[string]string `yaml:"columns,omitempty"`
	// Roots lists pools that the import creates around all other objects.
	Roots       []Root `yaml:"roots"`
	OnDuplicate string `yaml:"onDuplicate"`
	OnOverlap   string `yaml:"onOverlap"`
}

// SpaceMapping is the space for a routing domain's records.
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
	// Name is a template. {field} becomes the field's value. {a|b} becomes the first value that is not empty.
	Name   string            `yaml:"name,omitempty"`
	Labels map[string]string `yaml:"labels,omitempty,flow"`
}

// Root is a pool that does not come from the source.
type Root struct {
	Name    string `yaml:"name"`
	CIDR    string `yaml:"cidr"`
	Space   string `yaml:"space,omitempty"`
	Project string `yaml:"project,omitempty"`
}

//go:embed presets.yaml
var presets []byte

// Preset returns the default mapping for a source.
func Preset(of string) Mapping {
	var all map[string]Mapping
	if err := yaml.Unmarshal(presets, &all); err != nil {
		panic(err) // a mistake in this program
	}
	return all[of]
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

// Check returns all faults in the mapping.
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

// Write returns the mapping as a file that the user can edit. The file lists the source's routing domains and maps each one to a separate space.
func (m Mapping) Write(reading *source.Reading) ([]byte, error) {
	whole, spaces := m, map[string]SpaceMapping{}
	maps.Copy(spaces, m.Spaces)
	whole.Spaces = spaces
	found := whole.keys(&reading.Records)
	if whole.ByDomain() && slices.ContainsFunc(slices.Collect(maps.Values(found)), func(domains map[string]bool) bool { return len(domains) > 1 }) {
		whole.SpaceBy = []string{"routing-domain"} // the other fields do not distinguish the domains
		found = whole.keys(&reading.Records)
	}
	taken := map[string]bool{"default": true}
	for _, s := range spaces {
		taken[s.Space] = true
	}
	for key := range show.Sorted(found) {
		if _, mapped := spaces[key]; mapped {
			continue
		}
		base := cmp.Or(Name(key), "space")
		name := base
		for n := 2; taken[name] || name == "space"; n++ {
			name = WithSuffix(base, fmt.Sprint(n))
		}
		taken[name] = true
		spaces[key] = SpaceMapping{Space: name}
	}
	var b bytes.Buffer
	b.WriteString(mappingHead)
	fmt.Fprintf(&b, "# fields of this source: %s\n", strings.Join(fieldsOf(&reading.Records), ", "))
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := errors.Join(e.Encode(whole), e.Close())
	return b.Bytes(), err
}

// keys maps each SpaceKey to the routing domains that have it in the source.
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

// fieldsOf returns the names of all fields in a source.
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

// SpaceKey returns a record's values for `spaceBy`. These values identify the record's routing domain.
func (m *Mapping) SpaceKey(r *source.Record) string {
	var parts []string
	for _, field := range m.SpaceBy {
		if value := r.Field(field); value != "" {
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, "/")
}

// RuleOf returns the index of the first rule that matches a record, or -1.
func (m *Mapping) RuleOf(r *source.Record) int {
	return slices.IndexFunc(m.Rules, func(rule Rule) bool {
		for field, want := range rule.Match {
			value := r.Field(field)
			matches := value != "" && want == "*" || slices.ContainsFunc(strings.Split(want, ","), func(one string) bool {
				return strings.EqualFold(strings.TrimSpace(one), value)
			})
			if !matches {
				return false
			}
		}
		return true
	})
}

// Unsteady reports whether a value can change although its object does not change. Examples are a row's line number and a value that ipamctl itself
// writes.
func (m Mapping) Unsteady(key, value string) bool {
	return strings.HasPrefix(key, OurKeys) || m.Annotations[key] == "id" && source.OfLine(value)
}

// OurKeys is the prefix for the label and annotation keys that ipamctl itself writes.
const OurKeys = "ipamctl.carve/"

// LabelKeys returns the label keys that a mapping sets.
func (m Mapping) LabelKeys() []string {
	keys := slices.Collect(maps.Keys(m.Labels))
	for _, r := range m.Rules {
		keys = slices.AppendSeq(keys, maps.Keys(r.Labels))
	}
	return keys
}

// domainFields lists the fields that can identify a routing domain.
var domainFields = []string{"routing-domain", "vrf", "vrf.rd", "vrf.id", "network_view", "scope", "scope.id", "space"}

// ByDomain reports whether the mapping selects a row's space by its routing domain.
func (m *Mapping) ByDomain() bool {
	return slices.ContainsFunc(m.SpaceBy, func(field string) bool { return slices.Contains(domainFields, field) })
}

// sourceDomains lists, for each source, the fields that name its own routing domain.
var sourceDomains = map[string][]string{
	"netbox": {"vrf", "vrf.rd", "vrf.id"}, "phpipam": {"vrf"}, "infoblox": {"network_view"}, "aws": {"scope", "scope.id"}, "csv": {"space"}, "whereabouts": {"space"},
}

// Divides reports whether the mapping divides a routing domain of the source on purpose, by another field.
func (m *Mapping) Divides() bool {
	return slices.ContainsFunc(m.SpaceBy, func(field string) bool {
		return field != "routing-domain" && !slices.Contains(sourceDomains[m.Source], field)
	})
}

// Use is a position in a mapping that names a field.
type Use struct{ Where, Field string }

// Uses returns all positions that name fields.
func (m *Mapping) Uses() (all []Use) {
	add := func(where, field string) { all = append(all, Use{where, field}) }
	for _, name := range m.SpaceBy {
		add("spaceBy", name)
	}
	for key, field := range show.Sorted(m.Labels) {
		add("labels."+key, field)
	}
	for key, field := range show.Sorted(m.Annotations) {
		add("annotations."+key, field)
	}
	for n, r := range m.Rules {
		for name := range show.Sorted(r.Match) {
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
