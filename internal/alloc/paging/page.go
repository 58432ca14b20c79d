package paging

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Filter narrows a list. Zero fields do not narrow.
type Filter struct {
	Labels     *ipam.Selector
	Phase      string
	Family     ipam.Family
	Pool       ipam.Ref
	Space      ipam.Ref
	Parent     ipam.Ref
	Roots      bool // of pools: they were carved from a space
	Purpose    ipam.Purpose
	Visibility ipam.Visibility  // of pools
	Class      string           // the name of the class that served, or that the pool backs or was carved for
	Owner      string           // of claims: their ownerRef, as OwnerRef.String has it
	Consumer   ipam.ConsumerRef // of claims: a consumer that uses them
	Within     netip.Prefix     // the resource's block lies inside
	Contains   netip.Addr       // the resource's block covers the address
	Own        bool             // of allocations: what the project itself holds, in pools of any project, and not what is held in its pools
}

// Page is one page of a list. It may hold fewer items than asked for; Next alone says whether there is more.
type Page[T any] struct {
	Items []T
	Next  string
	Bytes int // about how many the items have as JSON
}

// scanBudget bounds the rows a page may look at when its filter matches few of them.
const scanBudget = 5000

// MostBytes bounds the items of a page as JSON, but for one item.
const MostBytes = 1 << 20

// The rows that are read at once: few of those whose size is not known, and of others no more than have firstBytes.
const (
	firstRows  = 101 // a page of the default size, and one row more
	firstBytes = 4 << 20
)

// Scan fills a page: it fetches runs of rows in key order, keeps those that match, and stops when the page is full or has MostBytes, the
// rows end or the budget is used up. Beyond as many rows as a page has it is a search, which needs a place unless searching is nil, as it must be in a
// transaction: a search that waits for a place holds no connection. key is where the row is in the order, for the cursor.
func Scan[T ipam.Sized, K any](ctx context.Context, searching *turns.Places, of List, cursor string, limit int, fetch func(after K, n int) ([]T, error), match func(*T) bool, key func(T) K) (Page[T], error) {
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
				leave, err := searching.Enter(ctx, of.owner())
				if err != nil {
					return Page[T]{}, err
				}
				defer leave() //nolint:revive // once: it is nil then
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

// run is how many rows may be read at once, after some that had so many bytes.
func run(seen, bytes int) int {
	if seen == 0 {
		return firstRows
	}
	return max(firstBytes/max(bytes/seen, 1), 1)
}

// MatchesBlock reports whether a block is of the family, inside of, and around what the filter asks for.
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

// MatchesClass reports whether one of some classes has the name that is asked for.
func (f Filter) MatchesClass(classes ...ipam.ClassRef) bool {
	return f.Class == "" || slices.ContainsFunc(classes, func(c ipam.ClassRef) bool { return c.Ref.Name == f.Class })
}

// MatchesRef reports whether a reference is the one wanted; the zero reference wants any.
func MatchesRef(want, have ipam.Ref) bool { return want == ipam.Ref{} || want == have }

// Searches reports whether a list in one pool may look at many rows for few that match: pools are in order of address, and no index knows more.
func (f Filter) Searches() bool {
	return f.Labels != nil || f.Phase != "" || f.Purpose != "" || f.Class != ""
}
