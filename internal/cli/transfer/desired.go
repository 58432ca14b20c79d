package transfer

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// row is the result of one row of the source. There can be very many rows, and nearly every row becomes exactly one item.
type row struct {
	item *item  // the only item that the row became
	rest *other // nil if there is exactly one item
}

// other is the result of a row that became no item or several items.
type other struct {
	items   []*item
	outcome string // for rows without items
	why     string
}

// items returns the items that a row became.
func (r row) items() []*item {
	switch {
	case r.rest != nil:
		return r.rest.items
	case r.item != nil:
		return []*item{r.item}
	}
	return nil
}

// ended returns the outcome of a row without items, and the reason for it.
func (r row) ended() (outcome, why string) {
	if r.rest == nil {
		return "", ""
	}
	return r.rest.outcome, r.rest.why
}

// desired has the rows of a source and the items that the mapping makes from them.
type desired struct {
	mapping rules.Mapping
	project string // the default project
	records *source.Records
	rows    []row // in the order of the records
	items   []*item
	extras  []*item                      // items for the roots of the mapping
	spaces  []*item                      // items for the spaces in Carve's own exports
	makings []*itemMaker                 // one for each rule of the mapping
	origins map[domain]map[origin]string // for each space, the routing domains that map to it, each with the ID of one of its rows
	classes []*item
}

// desiredItems applies the mapping to each record.
func desiredItems(m rules.Mapping, project string, records *source.Records) (*desired, error) {
	w := &desired{mapping: m, project: project, records: records, rows: make([]row, records.Len()), items: make([]*item, 0, records.Len()), origins: map[domain]map[origin]string{}}
	for _, rule := range m.Rules {
		by := &itemMaker{mapping: &w.mapping, rule: rule, records: records}
		by.shared = &itemDetails{by: by}
		w.makings = append(w.makings, by)
	}
	for n, r := range records.All() {
		w.record(n, &r)
	}
	if err := w.refuseMergedDomains(); err != nil {
		return nil, err
	}
	for _, root := range m.Roots {
		block, err := netip.ParsePrefix(root.CIDR)
		if err != nil || block != block.Masked() {
			return nil, exit.Usagef("roots: %q is not a CIDR", root.CIDR)
		}
		name := root.Name
		if name == "" {
			name = rules.Name(root.CIDR)
		}
		d := domainOf(first(root.Project, project), first(root.Space, "default"))
		w.extras = append(w.extras, &item{itemDetails: &itemDetails{}, ending: pending, domain: d, kind: rules.AsPool, name: name, block: block})
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

// record makes the item of one record. If there is no item, it stores the reason.
func (w *desired) record(n int, r *source.Record) {
	end := func(outcome, why string) { w.rows[n].rest = &other{outcome: outcome, why: why} }
	switch {
	case r.Problem != "":
		if at, found := w.mapping.RuleOf(r); found && w.mapping.Rules[at].As == rules.AsSkip {
			end(outcomeSkipped, "the mapping skips it")
			return
		}
		end(outcomeRefused, r.Problem)
		return
	case r.Own != nil:
		w.own(n, r)
		return
	case r.Kind == source.Reference:
		end(outcomeReference, "it is a "+first(r.Fields.Get("model"), "row about something else"))
		return
	}
	at, found := w.mapping.RuleOf(r)
	key := w.mapping.SpaceKey(r)
	to, said := w.mapping.Spaces[key]
	switch {
	case !found:
		end(outcomeSkipped, "no rule of the mapping matches it")
		return
	case w.mapping.Rules[at].As == rules.AsSkip:
		end(outcomeSkipped, "the mapping skips it")
		return
	case to.Skip:
		end(outcomeSkipped, fmt.Sprintf("the mapping skips %q", key))
		return
	}
	explicit := said && to.Space != ""
	if !explicit {
		to.Space = first(rules.Name(key), "default")
	}
	i := &item{
		domain: domainOf(first(to.Project, w.project), to.Space), kind: w.mapping.Rules[at].As, block: r.Block,
		itemDetails: w.makings[at].shared, ending: pending, row: int32(n + 1), //nolint:gosec // G115: the rows of files
	}
	if r.Span != nil {
		i.details().span = r.Span
	}
	if why := i.fits(); why != "" {
		end(outcomeRefused, why)
		return
	}
	o := origin{key: key, explicit: explicit}
	if w.mapping.ByDomain() {
		o.identity = r.Domain
	}
	w.from(i.domain, o, r)
	i.name = rules.Name(rules.Expand(first(w.mapping.Rules[at].Name, "{name|block}"), r))
	w.add(n, i)
}

func (w *desired) add(n int, i *item) {
	w.rows[n].item = i
	w.items = append(w.items, i)
}

// fits returns the reason why an item cannot become the kind of object that the mapping wants. If it can, fits returns "".
func (i *item) fits() string {
	mapped := netip.MustParsePrefix("::ffff:0:0/96")
	switch {
	case i.isRange() && (i.kind == rules.AsPool || i.kind == rules.AsClaim || i.kind == rules.AsAuto):
		blocks := snapshot.Blocks(i.span.First, i.span.Last)
		if len(blocks) > 1 {
			return "a range that is not a CIDR can become a reservation or claims, not a " + i.kind
		}
		i.block, i.span = blocks[0], nil
	case !i.isRange() && i.kind == rules.AsClaims:
		i.kind = rules.AsClaim
	case i.block.IsValid() && i.block.Overlaps(mapped):
		return "it has IPv4-mapped addresses, which no request accepts"
	}
	return ""
}

// itemMaker makes the labels, the annotations and the description of rows that match one rule of the mapping.
type itemMaker struct {
	mapping *rules.Mapping
	rule    rules.Rule
	records *source.Records
	shadow  string       // the name of the mirror that makes the items
	shared  *itemDetails // shared by all rows of the rule; details gives an item its own copy
}

// record returns the row of an item. The item's field by must be set.
func (i *item) record() *source.Record {
	r := i.by.records.At(int(i.row) - 1)
	return &r
}

// same returns a text that is equal for all rows about the same object. If the item's row belongs to no such group, it returns "".
func (i *item) same() string {
	if i.by == nil {
		return ""
	}
	return i.record().Same
}

// labelMap returns an item's labels.
func (i *item) labelMap() map[string]string {
	switch {
	case i.claims != nil:
		return i.claim().Labels
	case i.by == nil:
		return i.labels
	}
	all := map[string]string{}
	record := i.record()
	for key, of := range i.by.mapping.Labels {
		if value := rules.Label(record.Field(of)); value != "" {
			all[key] = value
		}
	}
	maps.Copy(all, i.by.rule.Labels)
	if i.by.shadow != "" {
		all[shadowLabel] = i.by.shadow
	}
	return all
}

// annotationMap returns an item's annotations.
func (i *item) annotationMap() map[string]string {
	switch {
	case i.claims != nil:
		return i.claim().Annotations
	case i.by == nil || i.annotations != nil:
		return i.annotations
	}
	all := map[string]string{}
	record := i.record()
	for key, of := range i.by.mapping.Annotations {
		if value := rules.Text(record.Field(of), 1000); value != "" {
			all[key] = value
		}
	}
	return all
}

// text returns an item's description.
func (i *item) text() string {
	if i.by == nil {
		return i.description
	}
	return rules.Text(strings.ReplaceAll(i.record().Fields.Get("description"), "\n", " "), 250)
}

// own makes an item from a row of Carve's own export. The item has the values of the row unchanged.
func (w *desired) own(n int, r *source.Record) {
	i := &item{
		domain: domainOf(w.project, r.Own.Space), kind: string(r.Kind), name: r.Name, block: r.Block, row: int32(n + 1), //nolint:gosec // G115: the rows of files
		ending: pending,
		itemDetails: &itemDetails{
			labels: r.Own.Labels, annotations: r.Own.Annotations, description: r.Fields.Get("description"), spec: r.Own.Spec,
			ownParent: r.Own.Parent, serves: r.Own.Serves,
		},
	}
	if len(i.spec) == 0 {
		i.spec = []byte("{}")
	}
	if r.Kind != source.Pool && r.Kind != source.Claim { // inherit sets the space of pools and claims
		i.move(first(i.space(), "default"))
	}
	switch r.Kind {
	case source.Space:
		w.rows[n].item = i
		w.spaces = append(w.spaces, i)
	case source.Class:
		w.rows[n].item = i
		w.classes = append(w.classes, i)
	default:
		w.add(n, i)
	}
}

// names makes the names of pools and claims unique. It goes through the rows in the order of the source, so that the same file always gets the same
// names.
func (w *desired) names() {
	taken := map[string]map[string]domain{} // maps a project and a name to the domain of the object that has the name
	for _, i := range w.items {
		if i.kind != rules.AsReservation && i.spec == nil {
			i.unique(taken)
		}
	}
}

// unique gives an item a name that no other item has.
func (i *item) unique(taken map[string]map[string]domain) {
	names := taken[i.project()]
	if names == nil {
		names = map[string]domain{}
		taken[i.project()] = names
	}
	base := first(i.name, rules.Name(i.where()), "block")
	i.name = base
	for n := 0; names[i.name] != (domain{}); n++ {
		switch {
		case n == 0 && names[base] != i.domain:
			i.name = rules.WithSuffix(base, i.space())
		case n <= 1:
			i.name = rules.WithSuffix(base, rules.Name(i.where()))
		default:
			i.name = rules.WithSuffix(base, fmt.Sprintf("%s-%d", rules.Name(i.where()), n))
		}
	}
	names[i.name] = i.domain
}
