package crdb

import (
	"maps"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/catalogcache"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// cacheFill collects the facts that a transaction reads. After the commit it puts them into the cache (catalogcache.Cache). A cached fact stays valid
// until another transaction changes it.
type cacheFill struct {
	memory   *catalogcache.Cache
	region   string
	pools    map[lookup.FenceKey]*catalogcache.Pool
	projects map[ipam.ID]catalogcache.Project
	platform ipam.ID
	asked    []lookup.FenceKey // projects whose version rows (fences) were read
	free     []storage.FreeChange
	moved    []lookup.FenceKey
}

// extendReads extends the planned reads of a pool's free blocks, so that the cache gets more blocks than this transaction needs. It returns
// wanted=false if the cache does not accept the pool.
func (l *cacheFill) extendReads(c storage.Container, reads freespace.Reads) (_ freespace.Reads, wanted bool) {
	if !l.memory.MayCache(lookup.FenceKeyOf(c)) {
		return reads, false
	}
	switch short := l.memory.IsShort(lookup.FenceKeyOf(c)); {
	case short && len(reads.Scans) == 0:
		return reads.WithWholeList(c.Block, catalogcache.Short), true
	case short:
		return reads.WithMoreRows(catalogcache.Short), true
	default:
		return reads.WithMoreRows(catalogcache.PrefetchLength), true
	}
}

// projectsToRead returns the projects whose version rows the transaction reads together with a group of claims.
func (l *cacheFill) projectsToRead(q storage.GroupQuery) []ipam.ID {
	ids := q.Projects
	if platform := l.memory.Platform(); len(q.Classes) > 0 && !platform.IsZero() {
		ids = append(slices.Clip(ids), platform)
	}
	l.asked = nil
	for _, id := range ids {
		l.asked = append(l.asked, lookup.FenceKey{Region: l.region, ID: id})
	}
	return ids
}

// addRead collects the facts that were read for a group of claims.
func (l *cacheFill) addRead(c storage.Container, reads freespace.Reads, q storage.GroupQuery, facts storage.GroupFacts, fence lookup.Fence) {
	free := freespace.NewFreeListCache(c.Block)
	free.Fill(reads, facts.Free)
	granted := make(map[string]bool, len(q.Consumers))
	for _, consumer := range q.Consumers {
		granted[consumer] = facts.Granted[consumer]
	}
	l.pools[lookup.FenceKeyOf(c)] = &catalogcache.Pool{Fence: fence, Pool: facts.Pool, Granted: granted, Free: free}
	for _, id := range q.Projects {
		p := catalogcache.Project{Parts: map[int][]storage.QuotaPart{q.Shard: nil}}
		for _, part := range facts.Quotas {
			if part.Quota.ProjectID == id {
				p.Parts[q.Shard] = append(p.Parts[q.Shard], part)
			}
		}
		l.projects[id] = p
	}
	for id, epoch := range facts.Epochs {
		if !id.IsZero() {
			p := l.projects[id]
			p.Epoch = &epoch
			l.projects[id] = p
		}
	}
	l.platform = facts.Platform
}

// addChanges collects the transaction's changes. They reach the cache only if the transaction commits.
func (l *cacheFill) addChanges(ch storage.Changes, statements *write.Statements) {
	l.free, l.moved = append(l.free, ch.Free...), append(l.moved, statements.Moved...)
	if n := statements.Naming; n != nil {
		for id, regions := range n.Placed {
			if p, known := l.projects[id]; known {
				p.Regions = regions
				l.projects[id] = p
			}
		}
	}
}

// publish puts the collected facts into the cache. It runs after the commit.
func (l *cacheFill) publish(t *tx) {
	for _, at := range l.moved {
		if l.pools[at] == nil {
			l.memory.Remove(at)
			l.memory.RemoveProject(at.ID)
		}
	}
	for _, f := range l.free {
		if p := l.pools[lookup.FenceKeyOf(f.Container)]; p != nil {
			p.Free.Apply(f.Delete, f.Insert)
		}
	}
	for at, p := range l.pools {
		fence, moved := t.fences[at], slices.Contains(l.moved, at)
		// If the pool is in several regions and this transaction did not change it, the pool is not cached. The reason: a restore may bring back the
		// version that this transaction read, but with other facts.
		if fence.Mark.IsZero() || !moved && p.Pool.MultiRegion() {
			continue
		}
		if was := l.memory.Take(at); was != nil && was.Fence.Mark == p.Fence.Mark { // grants that were read under the same version stay valid
			maps.Copy(was.Granted, p.Granted)
			p.Granted = was.Granted
		}
		p.Fence, p.At = fence, t.Now()
		l.memory.Put(at, p)
	}
	if !l.platform.IsZero() {
		l.memory.SetPlatform(l.platform)
	}
	for id, p := range l.projects {
		if fence, there := t.fences[lookup.FenceKey{Region: l.region, ID: id}]; there {
			p.Mark = fence.Mark
			l.memory.PutProject(id, p)
		}
	}
}
