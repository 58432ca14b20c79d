package paging

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Filter selects rows of a list. A zero field selects all.
type Filter struct {
	Labels     *ipam.Selector
	Phase      string
	Family     ipam.Family
	Pool       ipam.Ref
	Space      ipam.Ref
	Parent     ipam.Ref
	Roots      bool // of pools: only those carved from a space
	Purpose    ipam.Purpose
	Visibility ipam.Visibility  // of pools
	Class      string           // the name of the class that served it, or that the pool backs or was carved for
	Owner      string           // of claims: the ownerRef, as OwnerRef.String formats it
	Consumer   ipam.ConsumerRef // of claims: a consumer that uses them
	Within     netip.Prefix     // the resource's block lies inside
	Contains   netip.Addr       // the resource's block covers the address
	Own        bool             // of allocations: only those that the project itself holds, in pools of any project
}

// Page is one page of a list. It may have fewer items than requested; only Next shows whether there are more.
type Page[T any] struct {
	Items []T
	Next  string
	Bytes int // estimated size of the items as JSON
}

// scanBudget limits the rows that a page reads if its filter matches few of them.
const scanBudget = 5000

// MostBytes limits the size of a page's items as JSON; a page always has at least one item.
const MostBytes = 1 << 20

// Limits for one read: few rows while their size is unknown, then at most firstBytes.
const (
	firstRows  = 101 // a page of the default size, and one row more
	firstBytes = 4 << 20
)

// Scan fills a page: it fetches runs of rows in key order, and keeps those that match. It stops when the page is full or has MostBytes, the rows end,
// or the budget is used up. If it reads more than limit rows it becomes a search, which needs a slot from searching. In a transaction searching must
// be nil, because a search that waits for a slot must not hold a connection. key returns a row's key in the order, for the cursor.
func Scan[T ipam.Sized, K any](ctx context.Context, searching *locks.FairSemaphore, of List, cursor string, limit int, fetch func(after K, n int) ([]T, error), match func(*T) bool, key func(T) K) (Page[T], error) {
	var after K
	if err := OpenCursor(cursor, of, &after); err != nil {
		return Page[T]{}, err
	}
	page, seen, bytes := Page[T]{Items: []T{}}, 0, 0
	defer func() { tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: seen}) }()
	for seen < scanBudget {
		n := max(limit-len(page.Items), 1) + 1
		if seen > limit {
			n = max(n, 500)
			if searching != nil {
				leave, err := searching.Acquire(ctx, of.owner())
				if err != nil {
					return Page[T]{}, err
				}
				defer leave() //nolint:revive // the defer runs once: leave is nil afterwards
				searching = nil
			}
		}
		n = min(n, run(seen, bytes))
		rows, err := fetch(after, n)
		if err != nil {
			return Page[T]{}, err
		}
		seen += len(rows)
		for i := range rows {
			size := rows[i].Size()
			bytes += size
			if len(page.Items) == limit || len(page.Items) > 0 && page.Bytes+size > MostBytes {
				page.Next = SealCursor(of, after)
				return page, nil
			}
			after = key(rows[i])
			if match(&rows[i]) {
				page.Items, page.Bytes = append(page.Items, rows[i]), page.Bytes+size
			}
		}
		if len(rows) < n {
			return page, nil
		}
	}
	page.Next = SealCursor(of, after)
	return page, nil
}

// run returns how many rows one read may fetch, given the number and bytes of the rows so far.
func run(seen, bytes int) int {
	if seen == 0 {
		return firstRows
	}
	return max(firstBytes/max(bytes/seen, 1), 1)
}

// MatchesBlock reports whether a block has the filter's family, lies inside Within, and covers Contains.
func (f Filter) MatchesBlock(p netip.Prefix) bool {
	if f.Family != "" && ipam.FamilyOf(p.Addr()) != f.Family {
		return false
	}
	if f.Within.IsValid() && (f.Within.Addr().Is4() != p.Addr().Is4() || f.Within.Bits() > p.Bits() || !f.Within.Contains(p.Addr())) {
		return false
	}
	return !f.Contains.IsValid() || p.Contains(f.Contains)
}

// MatchesLabels reports whether labels match the selector.
func (f Filter) MatchesLabels(m map[string]string) bool {
	return f.Labels == nil || f.Labels.Matches(m)
}

// MatchesClass reports whether one of the classes has the filter's name.
func (f Filter) MatchesClass(classes ...ipam.ClassRef) bool {
	return f.Class == "" || slices.ContainsFunc(classes, func(c ipam.ClassRef) bool { return c.Ref.Name == f.Class })
}

// MatchesRef reports whether a reference equals want; a zero want matches any.
func MatchesRef(want, have ipam.Ref) bool { return want == ipam.Ref{} || want == have }

// Searches reports whether a list in one pool may read many rows for few matches: the rows are sorted by address, and no index covers these fields.
func (f Filter) Searches() bool {
	return f.Labels != nil || f.Phase != "" || f.Purpose != "" || f.Class != ""
}
