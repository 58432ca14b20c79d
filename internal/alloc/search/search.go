package search

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Searches is the use case that finds things.
type Searches struct{ *usecase.Core }

// New makes the room.
func New(core *usecase.Core) *Searches { return &Searches{core} }

// Bounds of what one search looks at: projects, pools around an address, and pools whose labels are compared.
const (
	maxProjects = 100
	maxPools    = 100
	maxLabelled = 5000
)

// Why something was found.
type Why string

// The reasons.
const (
	WhyName       Why = "Name"       // it has this name
	WhyNamePrefix Why = "NamePrefix" // its name begins so
	WhyBlock      Why = "Block"      // it is this block
	WhyHolds      Why = "Holds"      // it holds the address or the block
	WhyContains   Why = "Contains"   // a pool around it
	WhyLabel      Why = "Label"      // a pool with the label
)

// Item is something that was found. Fields that its kind does not have are zero.
type Item struct {
	Kind     string // as the trail calls it
	Project  string
	Name     string // of an allocation its id, of a consumer its UID
	Block    netip.Prefix
	Pool     ipam.Ref // from which it was carved
	Space    ipam.Ref // of pools
	Purpose  ipam.Purpose
	Phase    ipam.Phase
	Consumer string // of allocations for claims: the project that holds the block
	Why      Why
}

// Found is the first of what was found. Truncated: there may be more.
type Found struct {
	Items     []Item
	Truncated bool
}

// ranks is the order of kinds among what is alike otherwise.
var ranks = []string{trail.KindProject, trail.KindSpace, trail.KindClaim, trail.KindAllocation, trail.KindPool, trail.KindClass, trail.KindConsumer}

// Asked is what somebody looks for.
type Asked struct {
	Text  string
	Kind  string // only this kind; "" for every kind
	Limit int    // of the items of the answer
}

// Search answers the first things that a text finds in the projects that the caller has a role in; in all projects, for a platform admin.
func (s *Searches) Search(ctx context.Context, asked Asked, r usecase.Reading) (Found, error) {
	who, err := tenancy.Authorize(ctx, tenancy.Search, "")
	if err != nil {
		return Found{}, err
	}
	in, text, err := s.scope(ctx, who.Principal, strings.TrimSpace(asked.Text))
	if err != nil {
		return Found{}, err
	}
	l := look{read: s.View(r), in: in, limit: asked.Limit, kind: asked.Kind}
	block, isBlock := blockOf(text)
	key, value, isLabel := strings.Cut(text, "=")
	switch {
	case isBlock:
		err = l.blocks(ctx, block, !strings.Contains(text, "/"))
	case isLabel && l.wants(trail.KindPool):
		err = s.labels(ctx, &l, map[string]string{key: value})
	case !isLabel:
		err = l.names(ctx, text)
	}
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(in.projects) + len(l.found) + l.seen})
	if err != nil {
		return Found{}, err
	}
	l.found = slices.DeleteFunc(l.found, func(i Item) bool { return !l.wants(i.Kind) })
	return Found{Items: l.found[:min(len(l.found), l.limit)], Truncated: l.truncated || l.in.truncated || len(l.found) > l.limit}, nil
}

// look is one search while it goes on.
type look struct {
	read      storage.Reader
	in        scope
	limit     int
	kind      string // "" for every kind
	found     []Item
	seen      int // rows that were looked at and not found
	truncated bool
}

// wants reports whether things of a kind are looked for.
func (l *look) wants(kind string) bool { return l.kind == "" || l.kind == kind }

// sort brings what was found in order; what is alike goes by kind, project and name.
func (l *look) sort(compare func(a, b Item) int) {
	slices.SortFunc(l.found, func(a, b Item) int {
		return cmp.Or(compare(a, b), cmp.Compare(slices.Index(ranks, a.Kind), slices.Index(ranks, b.Kind)), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Name, b.Name))
	})
}

// blockOf reads an address or a block, of whose host bits nothing is asked.
func blockOf(text string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || p.Addr().Is4In6() {
		return netip.Prefix{}, false
	}
	return p.Masked(), true
}
