package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// plan has the steps for an import, in order.
type plan struct {
	*desired
	states  map[string]*state // by project
	create  [][]*item         // the items that are created one by one: spaces, then classes, then each level of pools
	claims  [][]*item         // claims, in batches
	refused bool              // a policy refuses the whole import
}

// prepare compares the wanted items with the objects on the server.
func prepare(ctx context.Context, s *session.Session, w *desired) (*plan, error) {
	p := &plan{desired: w, states: map[string]*state{}}
	for _, i := range slices.Concat(w.extras, w.items, w.spaces, w.classes) {
		if p.states[i.project()] == nil {
			st, err := read(ctx, converge.In(s, i.project()))
			if err != nil {
				return nil, exit.About("project "+i.project(), err)
			}
			p.states[i.project()] = st
		}
	}
	if err := w.refuseForeignSpace(p.states); err != nil {
		return nil, err
	}
	w.inherit(p.states)
	w.names()
	p.grow()
	p.byName()
	p.steps()
	return p, nil
}

// grow puts the wanted items and the items on the server into one tree for each domain.
func (p *plan) grow() {
	byDomain := map[domain][]*item{}
	for _, st := range p.states {
		for _, e := range st.items {
			byDomain[e.domain] = append(byDomain[e.domain], e)
		}
	}
	for _, i := range p.all() {
		byDomain[i.domain] = append(byDomain[i.domain], i)
	}
	domains := slices.SortedFunc(maps.Keys(byDomain), func(a, b domain) int {
		return strings.Compare(a.project()+"/"+a.space(), b.project()+"/"+b.space())
	})
	for _, d := range domains {
		t := grow(p.desired, byDomain[d])
		p.refused = p.refused || t.refused
	}
}

// byName ends an item if the server uses the item's name for another block.
func (p *plan) byName() {
	for _, i := range p.all() {
		if i.outcome != "" || i.kind == rules.AsReservation {
			continue
		}
		st := p.states[i.project()]
		is := ""
		if pool, found := st.Pools[i.name]; found && i.isPool() {
			is = pool.Status.AllocatedCIDR + " in space " + pool.Status.SpaceRef.Name
		}
		if claim, found := st.Claims.Get(i.name); found && i.kind == rules.AsClaim {
			is = claim.Block.String() + " of pool " + claim.Pool.Name
			if is == i.block.String()+" of pool "+i.ownParent { // the pool belongs to another project
				i.end(outcomeSame, "")
				continue
			}
		}
		if is != "" {
			i.end(outcomeDiffers, i.target()+" is "+is+", not "+i.where())
		}
	}
	for _, i := range p.items { // if a pool has another block on the server, the items below it cannot be created
		for up := i.parent; up != nil && i.outcome == ""; up = up.parent {
			if up.outcome == outcomeDiffers {
				i.end(outcomeRefused, up.target()+", which contains it, has another block on the server")
			}
		}
	}
}

// steps puts the items that must be created into the order in which create creates them.
func (p *plan) steps() {
	var spaces, classes []*item
	wanted := map[domain]bool{}
	for _, i := range p.spaces {
		i.move(i.name)
		if is, found := p.states[i.project()].Spaces[i.name]; found {
			p.compare(i, spaceOf(is))
			continue
		}
		wanted[i.domain] = true
		spaces = append(spaces, i)
	}
	for _, i := range p.classes {
		if is, found := p.states[i.project()].Classes[i.project()+"/"+i.name]; found {
			p.compare(i, classOf(is))
			continue
		}
		classes = append(classes, i)
	}
	var levels [][]*item
	var claims []*item
	for _, i := range p.all() {
		switch {
		case i.outcome != "" || i.kind == rules.AsReservation || i.kind == rules.AsClaims:
			continue
		case i.kind == rules.AsClaim:
			claims = append(claims, i)
			continue
		}
		for len(levels) <= int(i.depth) {
			levels = append(levels, nil)
		}
		levels[i.depth] = append(levels[i.depth], i)
		if _, found := p.states[i.project()].Spaces[i.space()]; !found && !wanted[i.domain] && !strings.Contains(i.space(), "/") {
			wanted[i.domain] = true
			spaces = append(spaces, p.spaceItem(i.domain))
		}
	}
	p.create = append([][]*item{spaces, classes}, levels...)
	p.claims = batches(claims)
}

// maxClaims and maxBytes limit a batch. The server limits the size of a body too.
const (
	maxClaims = 1000
	maxBytes  = 600 << 10
)

// batches groups claims by their pool. In a group, the claims keep their order.
func batches(claims []*item) (out [][]*item) {
	groups := map[string][]*item{}
	for _, i := range claims {
		key := i.project() + "/" + i.ownParent
		if i.parent != nil {
			key = i.project() + "/" + i.parent.name
		}
		groups[key] = append(groups[key], i)
	}
	var batch []*item
	bytes := 0
	project := ""
	for _, group := range show.Sorted(groups) {
		for _, i := range group {
			size := 300 + len(i.spec)
			for k, v := range i.annotationMap() {
				size += 2*len(v) + len(k)
			}
			for k, v := range i.labelMap() {
				size += len(k) + len(v) + 6
			}
			if len(batch) > 0 && (len(batch) == maxClaims || bytes+size > maxBytes || i.project() != project) {
				out, batch, bytes = append(out, batch), nil, 0
			}
			batch, bytes, project = append(batch, i), bytes+size, i.project()
		}
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

func (i *item) metadata() client.CreateMetadata {
	return client.CreateMetadata{Name: i.name, Labels: i.labelMap(), Annotations: i.annotationMap()}
}

// decodeSpec decodes the spec from Carve's own export. Other items have no spec.
func (i *item) decodeSpec(into any) error {
	if i.spec == nil {
		return nil
	}
	if err := json.Unmarshal(i.spec, into); err != nil {
		return fmt.Errorf("%s %s: %w", i.kind, i.name, err)
	}
	return nil
}

// document returns the request body that creates a space, a class or a pool.
func (i *item) document() (body any, err error) {
	switch i.kind {
	case string(source.Space):
		return client.SpaceCreate{Metadata: i.metadata(), Spec: &client.SpaceSpec{Description: i.text()}}, nil
	case string(source.Class):
		doc := client.IPClassCreate{Metadata: i.metadata()}
		return &doc, i.decodeSpec(&doc.Spec)
	default:
		return i.poolDocument()
	}
}

func (i *item) poolDocument() (client.IPPoolCreate, error) {
	doc := client.IPPoolCreate{Metadata: i.metadata()}
	if err := i.decodeSpec(&doc.Spec); err != nil {
		return doc, err
	}
	doc.Spec.CIDR, doc.Spec.Description = i.block.String(), i.text()
	doc.Spec.Reservations = append(doc.Spec.Reservations, i.holds...)
	doc.Spec.ClassNames = append(doc.Spec.ClassNames, i.serves...)
	if i.parent != nil {
		doc.Spec.ParentRef = &client.Ref{Name: i.parent.name}
	} else {
		doc.Spec.SpaceRef = verbs.ParseRef(i.space())
	}
	i.lengths(&doc.Spec)
	return doc, nil
}

// lengths sets the prefix lengths that may be carved from a pool, if the source limits them.
func (i *item) lengths(spec *client.IPPoolSpec) {
	if i.by == nil { // the item comes from the server
		return
	}
	record := i.record()
	number := func(field string) *int {
		if n, err := strconv.Atoi(record.Fields.Get(field)); err == nil && n >= i.block.Bits() && n <= i.block.Addr().BitLen() {
			return &n
		}
		return nil
	}
	limits := client.PoolAllocation{
		MinPrefixLength: number("minPrefixLength"), MaxPrefixLength: number("maxPrefixLength"), DefaultPrefixLength: number("defaultPrefixLength"),
	}
	if limits != (client.PoolAllocation{}) {
		spec.Allocation = &limits
	}
}

func (i *item) claimDocument() (client.IPClaimCreate, error) {
	doc := client.IPClaimCreate{Metadata: i.metadata()}
	if err := i.decodeSpec(&doc.Spec); err != nil {
		return doc, err
	}
	doc.Spec.CIDR = i.block.String()
	switch {
	case doc.Spec.ClassName != "":
	case i.parent != nil:
		doc.Spec.PoolRef = &client.Ref{Name: i.parent.name}
	case strings.Contains(i.ownParent, "/"):
		doc.Spec.PoolRef = verbs.ParseRef(i.ownParent)
	}
	return doc, nil
}
