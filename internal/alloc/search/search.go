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

// Searches contains the use case that finds resources.
type Searches struct{ *usecase.Core }

// New makes the use case.
func New(core *usecase.Core) *Searches { return &Searches{core} }

// The limits of one search.
const (
	maxProjects = 100  // projects that it covers
	maxPools    = 100  // pools that contain the address
	maxLabelled = 5000 // pools that a search by label reads
)

// Reason is the reason for a result.
type Reason string

// These are the reasons.
const (
	ReasonName       Reason = "Name"       // the name equals the text
	ReasonNamePrefix Reason = "NamePrefix" // the name begins with the text
	ReasonBlock      Reason = "Block"      // the block equals the text
	ReasonHolds      Reason = "Holds"      // a claim or an allocation holds the address or the block
	ReasonContains   Reason = "Contains"   // a pool contains the address or the block
	ReasonLabel      Reason = "Label"      // a pool has the label
)

// Item is a search result. Fields that its kind does not have are zero.
type Item struct {
	Kind     string // as in the audit trail
	Project  string
	Name     string // for an allocation its id, for a consumer its UID
	Block    netip.Prefix
	Pool     ipam.Ref // the pool that the block comes from
	Space    ipam.Ref // for pools
	Purpose  ipam.Purpose
	Phase    ipam.Phase
	Consumer string // for a claim's allocation: the project that holds the block
	Why      Reason
}

// Found contains the first results. Truncated reports whether more results may exist.
type Found struct {
	Items     []Item
	Truncated bool
}

// ranks is the order of kinds among results that are otherwise equal.
var ranks = []string{trail.KindProject, trail.KindSpace, trail.KindClaim, trail.KindAllocation, trail.KindPool, trail.KindClass, trail.KindConsumer}

// Query is a search request.
type Query struct {
	Text  string
	Kind  string // only this kind; "": every kind
	Limit int    // maximum number of items
}

// Search returns the first results for a text. It searches the projects in which the caller has a role. For a platform admin, it searches all
// projects.
func (s *Searches) Search(ctx context.Context, asked Query, r usecase.Reading) (Found, error) {
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
		err = l.findBlocks(ctx, block, !strings.Contains(text, "/"))
	case isLabel && l.wants(trail.KindPool):
		err = s.findByLabels(ctx, &l, map[string]string{key: value})
	case !isLabel:
		err = l.findNames(ctx, text)
	}
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(in.projects) + len(l.found) + l.seen})
	if err != nil {
		return Found{}, err
	}
	l.found = slices.DeleteFunc(l.found, func(i Item) bool { return !l.wants(i.Kind) })
	return Found{Items: l.found[:min(len(l.found), l.limit)], Truncated: l.truncated || l.in.truncated || len(l.found) > l.limit}, nil
}

type look struct {
	read      storage.Reader
	in        searchScope
	limit     int
	kind      string // "" for every kind
	found     []Item
	seen      int // rows that the search has read but that are not results
	truncated bool
}

// wants reports whether the search includes a kind.
func (l *look) wants(kind string) bool { return l.kind == "" || l.kind == kind }

// sort sorts the results by compare, and equal results by kind, project and name.
func (l *look) sort(compare func(a, b Item) int) {
	slices.SortFunc(l.found, func(a, b Item) int {
		return cmp.Or(compare(a, b), cmp.Compare(slices.Index(ranks, a.Kind), slices.Index(ranks, b.Kind)), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Name, b.Name))
	})
}

// blockOf parses an address or a block, and clears its host bits.
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
