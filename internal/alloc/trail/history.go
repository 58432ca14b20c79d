package trail

import (
	"bytes"
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// EndedHold returns the history row for an allocation's hold or phase that ends. A hold is the time in which a claim or a child pool has a block. The
// id depends on the allocation's revision, so a retry writes the same row.
func EndedHold(a ipam.Allocation, until time.Time) ipam.Hold {
	h := holdOf(a)
	h.ID = ipam.DerivedID(a.Revision, "ended")
	h.Until = until
	if until.Before(h.Since) { // the clocks of two servers differ
		h.Until = h.Since
	}
	return h
}

func holdOf(a ipam.Allocation) ipam.Hold {
	return ipam.Hold{
		ID: a.ID, ProjectID: a.ProjectID, Project: a.Project, Pool: a.Pool, Block: a.Block, Purpose: a.Purpose, Phase: a.Phase,
		AllocationID: a.ID, Holder: a.Holder, Since: a.Since,
	}
}

// GetHistory returns the current and former holds of an address by claims and child pools in a project's pools.
//
//   - If moment is set, it returns the holds at that time. The smallest block comes first.
//   - If moment is zero, it returns the current holds, the smallest block first, and then the former holds, the latest first.
//
// GetHistory hides the claim names of other projects. From other projects' pools, it returns only the project's current holds. Each pool's owner has
// the former holds in its own history.
func (s *Trail) GetHistory(ctx context.Context, project string, address netip.Addr, moment time.Time, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Hold], error) {
	_, key, err := s.Enter(ctx, tenancy.HistoryRead, project)
	if err != nil {
		return paging.Page[ipam.Hold]{}, err
	}
	leave, err := s.Searching.AcquireForWork(ctx, key.ID)
	if err != nil {
		return paging.Page[ipam.Hold]{}, err
	}
	defer leave()
	look := lookback{read: s.View(r), project: key, candidates: covering(address), at: moment}
	kind := "history"
	if !moment.IsZero() {
		kind = "history-at"
	}
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Probes: len(look.candidates)})
	page, err := paging.Scan(ctx, nil, paging.ListOf(kind, key.ID, address, moment), cursor, limit, func(after holdPlace, n int) ([]ipam.Hold, error) {
		if !moment.IsZero() {
			return look.holdsAtMoment(ctx, after, n)
		}
		return look.newestFirst(ctx, after, n)
	}, usecase.Everything[ipam.Hold], placeOf)
	for i := range page.Items {
		if h := &page.Items[i]; h.Purpose == ipam.PurposeClaim && h.Holder.Project != project {
			h.Holder.Name, h.Because = "", ipam.ReleaseCause{}
		}
	}
	return page, err
}

// covering returns every block that covers an address, the smallest first.
func covering(a netip.Addr) []netip.Prefix {
	all := make([]netip.Prefix, 0, a.BitLen()+1)
	for bits := a.BitLen(); bits >= 0; bits-- {
		all = append(all, netip.PrefixFrom(a, bits).Masked())
	}
	return all
}

// holdPlace is a position in a list of holds. The list has the current holds first, from the smallest block, and then the ended holds, from the
// latest.
type holdPlace struct {
	Bits  int       `json:"b"`
	Until time.Time `json:"u,omitzero"`
	ID    ipam.ID   `json:"i"`
}

func placeOf(h ipam.Hold) holdPlace { return holdPlace{Bits: h.Block.Bits(), Until: h.Until, ID: h.ID} }

// maxHolds limits the pools that one request checks for an address, in all the project's spaces. It also limits the holds at one moment.
const maxHolds = 10_000

// lookback contains the parameters for one history request.
type lookback struct {
	read       storage.Reader
	project    storage.ProjectKey
	candidates []netip.Prefix
	at         time.Time
}

// holdsAtMoment returns up to n holds at the time l.at. It starts after a position in the list.
func (l lookback) holdsAtMoment(ctx context.Context, after holdPlace, n int) ([]ipam.Hold, error) {
	holds, err := l.currentHolds(ctx)
	if err != nil {
		return nil, err
	}
	holds = slices.DeleteFunc(holds, func(h ipam.Hold) bool { return h.Since.After(l.at) })
	ended, err := l.read.HistoryAt(ctx, l.project, l.candidates, l.at, maxHolds)
	if err != nil {
		return nil, err
	}
	return sortHolds(append(holds, ended...), after, n), nil
}

// newestFirst returns up to n current and former holds. It starts after a position in the list.
func (l lookback) newestFirst(ctx context.Context, after holdPlace, n int) ([]ipam.Hold, error) {
	var holds []ipam.Hold
	if after.Until.IsZero() {
		lasting, err := l.currentHolds(ctx)
		if err != nil {
			return nil, err
		}
		if holds = sortHolds(lasting, after, n); len(holds) == n {
			return holds, nil
		}
		after = holdPlace{}
	}
	ended, err := l.read.HistoryList(ctx, l.project, l.candidates, storage.HistoryCursor{Until: after.Until, ID: after.ID}, n-len(holds))
	return append(holds, ended...), err
}

// currentHolds returns the current holds in the project's pools, and the project's own current holds in other projects' pools.
func (l lookback) currentHolds(ctx context.Context) ([]ipam.Hold, error) {
	holds, err := l.holdsInPools(ctx)
	if err != nil {
		return nil, err
	}
	elsewhere, err := l.read.HeldElsewhere(ctx, []ipam.ID{l.project.ID}, l.candidates, maxHolds)
	for _, a := range elsewhere {
		holds = append(holds, holdOf(a))
	}
	return holds, err
}

// holdsInPools returns the current holds in the project's pools.
func (l lookback) holdsInPools(ctx context.Context) ([]ipam.Hold, error) {
	pools, err := l.read.PoolListCovering(ctx, l.project, l.candidates, maxHolds)
	if err != nil || len(pools) == 0 {
		return nil, err
	}
	containers := make([]storage.Container, 0, len(pools))
	for _, p := range pools {
		containers = append(containers, storage.PoolContainers(p)...)
	}
	held, err := l.read.HeldAt(ctx, containers, l.candidates)
	if err != nil {
		return nil, err
	}
	var holds []ipam.Hold
	for _, a := range held {
		if a.Phase == ipam.PhaseCoolingDown { // the hold has ended
			continue
		}
		if a.Purpose == ipam.PurposeClaim || a.Purpose == ipam.PurposeChildPool {
			h := holdOf(a)
			h.Project = l.project.Name
			holds = append(holds, h)
		}
	}
	return holds, nil
}

// sortHolds sorts holds at one moment, the smallest block first. It returns up to n of them after a position.
func sortHolds(holds []ipam.Hold, after holdPlace, n int) []ipam.Hold {
	compare := func(a, b holdPlace) int {
		return cmp.Or(cmp.Compare(b.Bits, a.Bits), bytes.Compare(a.ID[:], b.ID[:]))
	}
	slices.SortFunc(holds, func(a, b ipam.Hold) int { return compare(placeOf(a), placeOf(b)) })
	if after != (holdPlace{}) {
		holds = slices.DeleteFunc(holds, func(h ipam.Hold) bool { return compare(placeOf(h), after) <= 0 })
	}
	return holds[:min(n, len(holds))]
}
