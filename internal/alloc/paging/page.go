package paging

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Filter selects rows from a list. A zero field selects all rows.
type Filter struct {
	Labels     *ipam.Selector
	Phase      string
	Family     ipam.Family
	Pool       ipam.Ref
	Space      ipam.Ref
	Parent     ipam.Ref
	Roots      bool // for pools: only root pools
	Purpose    ipam.Purpose
	Visibility ipam.Visibility  // for pools
	Class      string           // class name; for claims and allocations: the class that served them; for pools: a class that they back or were made for
	Owner      string           // for claims: the ownerRef in the format of OwnerRef.String
	Consumer   ipam.ConsumerRef // for claims: a consumer that uses them
	Within     netip.Prefix     // the resource's block lies inside this block
	Contains   netip.Addr       // the resource's block contains this address
	Own        bool             // for allocations: only blocks that the project itself holds, in pools of any project
}

// Page is one page of a list. It may have fewer items than requested, even if more items follow. Only Next shows whether more items follow.
type Page[T any] struct {
	Items []T
	Next  string
	Bytes int // estimated size of the items as JSON
}

// scanBudget limits the rows that Scan reads for one page. It matters if the filter matches few rows.
const scanBudget = 5000

// MostBytes limits the JSON size of a page's items. A single larger item still gets a page.
const MostBytes = 1 << 20

// These limits apply to one read. The first read has a limit in rows, because their size is unknown. Later reads have a limit in bytes.
const (
	firstRows  = 101 // one row more than a default page
	firstBytes = 4 << 20
)

// Scan fills a page. It fetches rows in key order, and keeps the rows that match. key returns a row's key, for the cursor. Scan stops in these cases:
//
//   - the page is full or has MostBytes
//   - no more rows exist
//   - it has read scanBudget rows
//
// If Scan needs more than limit rows, it counts as a search and waits for a slot from searching. In a transaction, searching must be nil, because a
// search that waits for a slot must not hold a connection.
func Scan[T ipam.Sized, K any](ctx context.Context, searching *locks.FairSemaphore, of List, cursor string, limit int, fetch func(after K, n int) ([]T, error), match func(*T) bool, key func(T) K) (Page[T], error) {
	var after K
	if err := OpenCursor(cursor, of, &after); err != nil {
		return Page[T]{}, err
	}
	page, seen, bytes := Page[T]{Items: []T{}}, 0, 0
	defer func() { tenancy.BudgetOf(ctx).Add(tenancy.RowWork(seen, bytes)) }()
	for seen < scanBudget {
		n := max(limit-len(page.Items), 1) + 1
		if seen > limit {
			n = max(n, 500)
			if searching != nil {
				leave, err := searching.AcquireForWork(ctx, of.owner())
				if err != nil {
					return Page[T]{}, err
				}
				defer leave() //nolint:revive // the defer runs once: leave is nil afterwards
				searching = nil
			}
		}
		n = min(n, maxRead(seen, bytes))
		rows, err := fetch(after, n)
		if err != nil {
			return Page[T]{}, err
		}
		seen += len(rows)
		for i := range rows {
			bytes += rows[i].Size()
		}
		for i := range rows {
			size := rows[i].Size()
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

// maxRead returns the number of rows that the next read may fetch. seen and bytes are the number and the size of the rows that Scan has read.
func maxRead(seen, bytes int) int {
	if seen == 0 {
		return firstRows
	}
	return max(firstBytes/max(bytes/seen, 1), 1)
}

// MatchesBlock reports whether a block has the filter's family, lies inside Within, and contains the address Contains.
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

// MatchesClass reports whether any of the classes has the filter's name.
func (f Filter) MatchesClass(classes ...ipam.ClassRef) bool {
	return f.Class == "" || slices.ContainsFunc(classes, func(c ipam.ClassRef) bool { return c.Ref.Name == f.Class })
}

// MatchesRef reports whether a reference equals want. A zero want matches every reference.
func MatchesRef(want, have ipam.Ref) bool { return want == ipam.Ref{} || want == have }

// Searches reports whether a list in one pool may read many rows for few matches. This happens if the filter has a field without an index. The rows
// are sorted by address.
func (f Filter) Searches() bool {
	return f.Labels != nil || f.Phase != "" || f.Purpose != "" || f.Class != ""
}
