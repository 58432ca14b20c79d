package write

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// fenceChanges collects the changes to version rows (fences). Each container and project has a version row in each region. A stock counts a
// container's free and cooling blocks.
type fenceChanges struct {
	changed stocks // differences between the new and the old counts
	begins  keySet
	ends    keySet
	counted stocks           // new counts for containers whose blocks were all counted
	moved   map[ipam.ID]bool // projects, and containers whose pool or grants changed; each gets new versions in all regions
}

type (
	stocks map[lookup.FenceKey]ipam.Stock
	keySet map[lookup.FenceKey]bool
)

func fenceChangesOf(ch storage.Changes) fenceChanges {
	f := fenceChanges{stocks{}, keySet{}, keySet{}, stocks{}, map[ipam.ID]bool{}}
	f.addBlocks(ch)
	f.addContainers(ch)
	if e := ch.EpochReset; e != nil {
		f.counted[lookup.FenceKey{Region: e.Region, ID: e.PoolID}] = e.Stock
	}
	for at := range f.counted {
		delete(f.changed, at)
	}
	if u := ch.PoolUpdate; u != nil {
		f.moved[u.Now.UID] = true
	}
	for _, m := range ch.ScopedMarks {
		f.moved[m.PoolID] = true
	}
	if g := ch.GrantDelete; g != nil && g.Kind == ipam.GrantOfPool { // a new grant needs no new version: before a server refuses a claim, it reads the grants that its cache lacks
		f.moved[g.SubjectID] = true
	}
	f.addProjects(ch)
	return f
}

// addProjects adds each project with changed quotas or classes, because claims depend on them. The platform project is included, because other
// projects use its classes.
func (f fenceChanges) addProjects(ch storage.Changes) {
	for _, q := range []*ipam.Quota{ch.QuotaInsert, ch.QuotaDelete} {
		if q != nil {
			f.moved[q.ProjectID] = true
		}
	}
	if u := ch.QuotaUpdate; u != nil {
		f.moved[u.Now.ProjectID] = true
	}
	for _, m := range ch.QuotaOverdrawn {
		f.moved[m.ProjectID] = true
	}
	for id := range classesChanged(ch) {
		f.moved[id] = true
	}
}

// addBlocks adds the differences in the stocks.
func (f fenceChanges) addBlocks(ch storage.Changes) {
	for _, c := range ch.Free {
		if len(c.Delete)+len(c.Insert) == 0 {
			continue
		}
		stock := f.at(lookup.FenceKeyOf(c.Container))
		count(stock.Free, -1, c.Delete...)
		count(stock.Free, 1, c.Insert...)
	}
	cooling := func(n int64, list ...ipam.Allocation) {
		for _, a := range list {
			if a.Phase == ipam.PhaseCoolingDown {
				count(f.at(lookup.FenceKey{Region: a.Region, ID: a.ContainerID}).Cooling, n, a.Block)
			}
		}
	}
	cooling(-1, ch.AllocationDelete...)
	cooling(1, ch.AllocationInsert...)
	if u := ch.AllocationUpdate; u != nil { // the allocation was retained, and now it cools down
		cooling(1, u.Now)
	}
	for _, r := range ch.ClaimRelease {
		cooling(1, r.Now)
	}
}

func (f fenceChanges) at(place lookup.FenceKey) ipam.Stock {
	stock, known := f.changed[place]
	if !known {
		stock = ipam.Stock{Free: map[int]int64{}, Cooling: map[int]int64{}}
		f.changed[place] = stock
	}
	return stock
}

func count(counts map[int]int64, n int64, blocks ...netip.Prefix) {
	for _, b := range blocks {
		counts[b.Bits()] += n
	}
}

// addContainers adds new and deleted containers. A container is a pool in a region, or a space's address family.
func (f fenceChanges) addContainers(ch storage.Changes) {
	for _, p := range ch.PoolInsert {
		all(f.begins, storage.PoolContainer(p))
		all(f.begins, remoteContainers(p, ch.PoolRegionInsert)...)
	}
	if u := ch.PoolUpdate; u != nil { // the version row in the pool's home region stays, whether or not the pool has other regions
		all(f.begins, remoteContainers(u.Now, ch.PoolRegionInsert)...)
		all(f.ends, remoteContainers(u.Now, ch.PoolRegionDelete)...)
	}
	if p := ch.PoolDelete; p != nil {
		all(f.ends, storage.PoolContainer(*p))
		all(f.ends, remoteContainers(*p, ch.PoolRegionDelete)...)
	}
	for _, s := range ch.SpaceInsert {
		all(f.begins, storage.SpaceContainer(s, ipam.IPv4), storage.SpaceContainer(s, ipam.IPv6))
	}
	for _, s := range ch.SpaceDelete {
		all(f.ends, storage.SpaceContainer(s, ipam.IPv4), storage.SpaceContainer(s, ipam.IPv6))
	}
}

// remoteContainers returns the pool's containers in the listed regions, without its home region.
func remoteContainers(p ipam.Pool, regions []storage.PoolRegionChange) (list []storage.Container) {
	for _, r := range regions {
		if r.PoolID == p.UID && r.Now.Region != p.Region {
			list = append(list, storage.PoolContainer(storage.Placed(p, r.Now.Region)))
		}
	}
	return list
}

func all(places keySet, containers ...storage.Container) {
	for _, c := range containers {
		places[lookup.FenceKeyOf(c)] = true
	}
}

// FencesMissing returns the containers whose counts the changes need, and whose version rows are not in fences.
func FencesMissing(ch storage.Changes, fences lookup.Fences) (missing []lookup.FenceKey) {
	f := fenceChangesOf(ch)
	for at := range f.changed {
		if _, there := fences[at]; !there && !f.begins[at] && !f.ends[at] {
			missing = append(missing, at)
		}
	}
	return missing
}

// writeFences writes new versions and counts for the changed containers and projects. All transactions use the same order. If a version differs from
// the version that was read, the transaction was planned from old data and fails.
func (w *Statements) writeFences(ch storage.Changes, known lookup.Fences, everywhere []string) {
	f := fenceChangesOf(ch)
	for _, at := range inOrder(f.ends) {
		delete(known, at)
		w.hit("fence_delete", 1, at.Region, at.ID)
	}
	if p := ch.ProjectDelete; p != nil {
		w.unchecked("fence_delete_all", p.UID)
	}
	next := func(at lookup.FenceKey) lookup.Fence {
		stock, err := known[at].Stock.Plus(f.at(at))
		if err != nil {
			w.err = errors.Join(w.err, fmt.Errorf("the stock of container %s in %s is too small for the change: %w: %w", at.ID, at.Region, err, ErrStale))
		}
		known[at] = lookup.Fence{Mark: ipam.NewID(), Stock: stock}
		return known[at]
	}
	for _, at := range inOrder(f.begins) {
		now := next(at)
		w.hit("fence_insert", 1, at.Region, at.ID, now.Mark, rows.EncodeStock(now.Stock))
	}
	var moves []rows.FenceMove
	var regions []string
	for _, at := range inOrder(f.changed) {
		if f.begins[at] || f.ends[at] {
			continue
		}
		was := known[at].Mark
		now := next(at)
		moves, regions = append(moves, rows.FenceMove{ID: at.ID, Was: was, Mark: now.Mark, Stock: rows.EncodeStock(now.Stock)}), append(regions, at.Region)
		w.Moved = append(w.Moved, at)
	}
	for len(moves) > 0 { // one statement for consecutive changes in the same region
		n := 1
		for n < len(moves) && regions[n] == regions[0] {
			n++
		}
		hitRows(w, "fence_update", rows.FenceMoves, moves[:n], regions[0])
		moves, regions = moves[n:], regions[n:]
	}
	for _, at := range inOrder(f.counted) {
		w.Moved = append(w.Moved, at)
		known[at] = lookup.Fence{Mark: ipam.NewID(), Stock: f.counted[at]}
		w.hit("fence_put", 1, at.Region, at.ID, known[at].Mark, rows.EncodeStock(f.counted[at]))
	}
	for _, id := range slices.SortedFunc(maps.Keys(f.moved), rows.CompareIDs) {
		mark := ipam.NewID()
		w.unchecked("fence_move", id, mark)
		for _, region := range everywhere { // only the known regions; the statement also reaches regions that this server does not know yet
			at := lookup.FenceKey{Region: region, ID: id}
			w.Moved = append(w.Moved, at)
			if was, there := known[at]; there {
				known[at] = lookup.Fence{Mark: mark, Stock: was.Stock}
			}
		}
	}
}

func inOrder[V any](places map[lookup.FenceKey]V) []lookup.FenceKey {
	return slices.SortedFunc(maps.Keys(places), func(a, b lookup.FenceKey) int {
		return cmp.Or(rows.CompareIDs(a.ID, b.ID), cmp.Compare(a.Region, b.Region))
	})
}

// Begin inserts version rows for projects in regions. A row that exists already does not change.
func (w *Statements) Begin(places []lookup.FenceKey) {
	for _, at := range places {
		w.unchecked("fence_begin", at.Region, at.ID, ipam.NewID(), rows.EncodeStock(ipam.Stock{}))
	}
}

// Begins returns Statements that contain only Begin's inserts.
func Begins(places []lookup.FenceKey) *Statements {
	w := &Statements{batch: &pgx.Batch{}}
	w.Begin(places)
	return w
}
