package transfer

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// row is what has become of one row of the source.
type row struct {
	source.Record
	items   []*item
	outcome string // of rows without items
	why     string
}

// wishes are the rows of a source with the items that the mapping makes of them.
type wishes struct {
	mapping rules.Mapping
	project string // where nothing else is said
	rows    []row
	items   []*item
	extras  []*item // roots of the mapping
	spaces  []*item // of Carve's own
	classes []*item
}

// wish asks the mapping what becomes of each record.
func wish(m rules.Mapping, project string, records []source.Record) (*wishes, error) {
	w := &wishes{mapping: m, project: project, rows: make([]row, len(records))}
	for n, r := range records {
		w.rows[n].Record = r
		w.record(n, r)
	}
	for _, root := range m.Roots {
		block, err := netip.ParsePrefix(root.CIDR)
		if err != nil || block != block.Masked() {
			return nil, fmt.Errorf("roots: %q is no CIDR", root.CIDR)
		}
		name := root.Name
		if name == "" {
			name = rules.Name(root.CIDR)
		}
		d := domain{first(root.Project, project), first(root.Space, "default")}
		w.extras = append(w.extras, &item{domain: d, kind: rules.AsPool, name: name, block: block})
	}
	return w, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// record makes the item of one record, or says why there is none.
func (w *wishes) record(n int, r source.Record) {
	end := func(outcome, why string) { w.rows[n].outcome, w.rows[n].why = outcome, why }
	switch {
	case r.Problem != "":
		if rule, found := w.mapping.RuleOf(r); found && rule.As == rules.AsSkip {
			end(outcomeSkipped, "the mapping skips it")
			return
		}
		end(outcomeRefused, r.Problem)
		return
	case r.Own != nil:
		w.own(n, r)
		return
	case r.Kind == source.Reference:
		end(outcomeReference, "it is a "+first(r.Fields["model"], "row about something else"))
		return
	}
	rule, found := w.mapping.RuleOf(r)
	key := w.mapping.SpaceKey(r)
	to, said := w.mapping.Spaces[key]
	switch {
	case !found:
		end(outcomeSkipped, "no rule of the mapping matches it")
		return
	case rule.As == rules.AsSkip:
		end(outcomeSkipped, "the mapping skips it")
		return
	case to.Skip:
		end(outcomeSkipped, fmt.Sprintf("the mapping skips %q", key))
		return
	case !said || to.Space == "":
		to.Space = first(rules.Name(key), "default")
	}
	i := &item{
		domain: domain{first(to.Project, w.project), to.Space}, kind: rule.As, block: r.Block, first: r.First, last: r.Last,
		labels: map[string]string{}, annotations: map[string]string{}, rows: []int{n},
	}
	if why := i.fits(); why != "" {
		end(outcomeRefused, why)
		return
	}
	i.name = rules.Name(rules.Expand(first(rule.Name, "{name|block}"), r))
	i.describe(w.mapping, rule, r)
	w.add(n, i)
}

func (w *wishes) add(n int, i *item) {
	w.rows[n].items = append(w.rows[n].items, i)
	w.items = append(w.items, i)
}

// fits says why an item cannot be what the mapping makes of it.
func (i *item) fits() string {
	mapped := netip.MustParsePrefix("::ffff:0:0/96")
	switch {
	case i.isRange() && (i.kind == rules.AsPool || i.kind == rules.AsClaim || i.kind == rules.AsAuto):
		blocks := blocksOf(i.first, i.last)
		if len(blocks) > 1 {
			return "a range that is no CIDR can be a reservation or claims, not a " + i.kind
		}
		i.block, i.first, i.last = blocks[0], netip.Addr{}, netip.Addr{}
	case !i.isRange() && i.kind == rules.AsClaims:
		i.kind = rules.AsClaim
	case i.block.IsValid() && i.block.Overlaps(mapped):
		return "it has IPv4-mapped addresses, of which no request can name a block"
	}
	return ""
}

// describe gives an item its labels, annotations and description.
func (i *item) describe(m rules.Mapping, rule rules.Rule, r source.Record) {
	for key, of := range m.Labels {
		if value := rules.Label(r.Field(of)); value != "" {
			i.labels[key] = value
		}
	}
	maps.Copy(i.labels, rule.Labels)
	for key, of := range m.Annotations {
		if value := rules.Text(r.Field(of), 1000); value != "" {
			i.annotations[key] = value
		}
	}
	i.description = rules.Text(strings.ReplaceAll(r.Fields["description"], "\n", " "), 250)
	i.fields = r.Fields
}

// own makes an item of a row of our own export: as it is.
func (w *wishes) own(n int, r source.Record) {
	i := &item{
		domain: domain{w.project, r.Own.Space}, kind: string(r.Kind), name: r.Name, block: r.Block, rows: []int{n},
		labels: r.Own.Labels, annotations: r.Own.Annotations, description: r.Fields["description"], spec: r.Own.Spec, ownParent: r.Own.Parent,
		serves: r.Own.Serves,
	}
	if len(i.spec) == 0 {
		i.spec = []byte("{}")
	}
	if r.Kind != source.Pool && r.Kind != source.Claim { // which get a space when it is known what is around them
		i.space = first(i.space, "default")
	}
	switch r.Kind {
	case source.Space:
		w.rows[n].items = []*item{i}
		w.spaces = append(w.spaces, i)
	case source.Class:
		w.rows[n].items = []*item{i}
		w.classes = append(w.classes, i)
	default:
		w.add(n, i)
	}
}

// names makes the names of pools and of claims unique, in the order of the source, so that the same file has the same names again.
func (w *wishes) names() {
	taken := map[string]string{} // the space of who has the name
	for _, i := range w.items {
		if i.kind != rules.AsReservation && i.spec == nil {
			i.unique(taken)
		}
	}
}

// unique gives an item a name that nobody has yet.
func (i *item) unique(taken map[string]string) {
	base := first(i.name, rules.Name(i.where()), "block")
	i.name = base
	for n := 0; taken[i.project+"/"+i.name] != ""; n++ {
		switch {
		case n == 0 && taken[i.project+"/"+base] != i.space:
			i.name = rules.WithSuffix(base, i.space)
		case n <= 1:
			i.name = rules.WithSuffix(base, rules.Name(i.where()))
		default:
			i.name = rules.WithSuffix(base, fmt.Sprintf("%s-%d", rules.Name(i.where()), n))
		}
	}
	taken[i.project+"/"+i.name] = i.space
}
