package transfer

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// row is the result of one source row. There can be very many rows, and nearly every row becomes exactly one item.
type row struct {
	item *item  // the only item that the row became
	rest *other // nil if there is exactly one item
}

// other is the result if a row became no item or several items.
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

// ended returns the outcome and the reason for a row without items.
func (r row) ended() (outcome, why string) {
	if r.rest == nil {
		return "", ""
	}
	return r.rest.outcome, r.rest.why
}

// desired has the source's rows and the items that the mapping makes from them.
type desired struct {
	mapping rules.Mapping
	project string // the default project
	records *source.Records
	rows    []row // in the same order as records
	items   []*item
	extras  []*item                      // items for the mapping's roots
	spaces  []*item                      // items for the spaces in Carve's own exports
	makings []*itemMaker                 // one for each rule
	origins map[domain]map[origin]string // for each space, the routing domains that map to it, each with one row's ID
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
		d := domainOf(first(root.Project, project), first(root.Space, "default"))
		w.extras = append(w.extras, newItem(d, rules.AsPool, first(root.Name, rules.Name(root.CIDR)), block, &itemDetails{}))
	}
	return w, nil
}

// all returns the items for the mapping's roots and for the rows.
func (w *desired) all() []*item { return slices.Concat(w.extras, w.items) }

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// record makes a record's item. If there is none, it stores the reason.
func (w *desired) record(n int, r *source.Record) {
	end := func(outcome, why string) { w.rows[n].rest = &other{outcome: outcome, why: why} }
	at := w.mapping.RuleOf(r)
	skipped := at >= 0 && w.mapping.Rules[at].As == rules.AsSkip
	key := w.mapping.SpaceKey(r)
	to, mapped := w.mapping.Spaces[key]
	switch {
	case r.Problem != "" && !skipped:
		end(outcomeRefused, r.Problem)
		return
	case r.Problem == "" && r.Own != nil:
		w.own(n, r)
		return
	case r.Problem == "" && r.Kind == source.Reference:
		end(outcomeReference, "it is a "+first(r.Fields.Get("model"), "row about something else"))
		return
	case skipped:
		end(outcomeSkipped, "the mapping skips it")
		return
	case at < 0:
		end(outcomeSkipped, "no rule of the mapping matches it")
		return
	case to.Skip:
		end(outcomeSkipped, fmt.Sprintf("the mapping skips %q", key))
		return
	}
	explicit := mapped && to.Space != ""
	if !explicit {
		to.Space = first(rules.Name(key), "default")
	}
	by := w.makings[at]
	i := newItem(domainOf(first(to.Project, w.project), to.Space), by.rule.As, "", r.Block, by.shared)
	i.row = int32(n + 1) //nolint:gosec // G115: the rows of files
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
	i.name = rules.Name(rules.Expand(first(by.rule.Name, "{name|block}"), r))
	w.rows[n].item, w.items = i, append(w.items, i)
}

// fits returns the reason why an item cannot become the object that the mapping wants, or "".
func (i *item) fits() string {
	mapped := netip.MustParsePrefix("::ffff:0:0/96")
	switch {
	case i.isRange() && (i.kind == rules.AsPool || i.kind == rules.AsClaim || i.kind == rules.AsAuto):
		blocks := converge.Blocks(i.span.First, i.span.Last)
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

// itemMaker makes the labels, the annotations and the description for rows that match one rule.
type itemMaker struct {
	mapping *rules.Mapping
	rule    rules.Rule
	records *source.Records
	shadow  string       // the mirror's name, or "" for an import
	shared  *itemDetails // shared by all rows that match the rule; details gives an item its own copy
}

// record returns an item's row. The item's field by must be set.
func (i *item) record() *source.Record {
	r := i.by.records.At(int(i.row) - 1)
	return &r
}

// same returns a text that is equal for all rows about the same object. If the item's row belongs to no such group, it returns "".
func (i *item) same() string {
	if i.by == nil {
		return ""
	}
	return i.record().ObjectKey
}

func (i *item) labelMap() map[string]string {
	switch {
	case i.claims != nil:
		return i.claim().Labels
	case i.by == nil:
		return i.labels
	}
	all := i.mapped(i.by.mapping.Labels, rules.Label)
	maps.Copy(all, i.by.rule.Labels)
	if i.by.shadow != "" {
		all[shadowLabel] = i.by.shadow
	}
	return all
}

func (i *item) annotationMap() map[string]string {
	switch {
	case i.claims != nil:
		return i.claim().Annotations
	case i.by == nil || i.annotations != nil:
		return i.annotations
	}
	return i.mapped(i.by.mapping.Annotations, func(text string) string { return rules.Text(text, 1000) })
}

// mapped returns the values for the labels or annotations that a mapping defines.
func (i *item) mapped(fields map[string]string, convert func(string) string) map[string]string {
	all, record := map[string]string{}, i.record()
	for key, field := range fields {
		if value := convert(record.Field(field)); value != "" {
			all[key] = value
		}
	}
	return all
}

func (i *item) text() string {
	if i.by == nil {
		return i.description
	}
	return rules.Text(strings.ReplaceAll(i.record().Fields.Get("description"), "\n", " "), 250)
}

// own makes an item from a row in Carve's own export. The item has the row's values unchanged.
func (w *desired) own(n int, r *source.Record) {
	i := newItem(domainOf(w.project, r.Own.Space), string(r.Kind), r.Name, r.Block, &itemDetails{
		labels: r.Own.Labels, annotations: r.Own.Annotations, description: r.Fields.Get("description"), spec: r.Own.Spec,
		ownParent: r.Own.Parent, serves: r.Own.Serves,
	})
	i.row = int32(n + 1) //nolint:gosec // G115: the rows of files
	if len(i.spec) == 0 {
		i.spec = []byte("{}")
	}
	if r.Kind != source.Pool && r.Kind != source.Claim { // inherit moves pools and claims
		i.move(first(i.space(), "default"))
	}
	list := &w.items
	switch r.Kind { //nolint:exhaustive // the other kinds are items
	case source.Space:
		list = &w.spaces
	case source.Class:
		list = &w.classes
	}
	w.rows[n].item, *list = i, append(*list, i)
}

// names makes the names of pools and claims unique. It keeps the rows' order, so that the same file always gets the same names.
func (w *desired) names() {
	taken := map[projectName]domain{}
	for _, i := range w.items {
		if i.kind != rules.AsReservation && i.spec == nil {
			i.unique(taken)
		}
	}
}

// projectName is a name in a project.
type projectName struct{ project, name string }

// unique gives an item a name that no other item has. taken has the domains in which names are used.
func (i *item) unique(taken map[projectName]domain) {
	base := first(i.name, rules.Name(i.where()), "block")
	at := projectName{i.project(), base}
	for n := 0; taken[at] != (domain{}); n++ {
		switch {
		case n == 0 && taken[at] != i.domain:
			at.name = rules.WithSuffix(base, i.space())
		case n <= 1:
			at.name = rules.WithSuffix(base, rules.Name(i.where()))
		default:
			at.name = rules.WithSuffix(base, fmt.Sprintf("%s-%d", rules.Name(i.where()), n))
		}
	}
	i.name, taken[at] = at.name, i.domain
}
