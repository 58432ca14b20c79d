// Package catalogcache caches the facts about pools, and about the projects that claim from them, between transactions. Each entry belongs to a mark, the
// version in the pool's or project's fence (version row). A stale entry does no harm: the transaction that was planned from it replaces the cached
// marks, and fails if they have changed.
package catalogcache

import (
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Limits for cached pools and projects. A pool takes 16 bytes for each free block, and has at most freespace.MaxCachedBlocks.
const (
	maxPools    = 4096
	maxProjects = 4096
)

// invalidatedAge is the time for which a pool is not cached after a stale entry: other servers change the pool and would invalidate a new entry.
const invalidatedAge = time.Second

// fewTrips is the number of uses that make an entry worth a new read when it lacks rows.
const fewTrips = 8

// PrefetchLength is the number of additional free blocks to read for a pool that will be cached.
const PrefetchLength = 128

// Short bounds the free blocks in a pool that is read as a whole after its entry lacked rows. That serves releases, which may be anywhere in the
// pool.
const Short = 512

// Pool is the cache entry for a pool in a region. One transaction uses it at a time.
type Pool struct {
	Fence   lookup.Fence
	Pool    ipam.Pool
	Granted map[string]bool // projects with a grant, by name
	Free    *freespace.FreeListCache
	At      time.Time // when a transaction last changed the pool

	trips int
	short bool // a short free list lacked rows
}

// Project is the cache entry for a project. It is immutable.
type Project struct {
	Mark    ipam.ID
	Regions []string                    // regions in which it may have claims
	Epoch   *ipam.ID                    // its classes' version; nil: unknown
	Parts   map[int][]storage.QuotaPart // its quotas by shard; their figures may be older than the mark
}

// Cache is the cache. It is safe for concurrent use.
type Cache struct {
	ticks       func() time.Time
	mu          sync.Mutex
	pools       *lru.Cache[lookup.FenceKey, *Pool]
	invalidated *lru.Cache[lookup.FenceKey, time.Time]
	projects    *lru.Cache[ipam.ID, *Project]
	platform    ipam.ID
}

// New returns an empty cache. ticks returns a time for durations.
func New(ticks func() time.Time) *Cache {
	return &Cache{ticks: ticks, pools: newLRU[lookup.FenceKey, *Pool](maxPools), invalidated: newLRU[lookup.FenceKey, time.Time](maxPools), projects: newLRU[ipam.ID, *Project](maxProjects)}
}

func newLRU[K comparable, V any](most int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](most)
	if err != nil {
		panic(err) // only for a size below one
	}
	return c
}

// Take removes a pool's entry from the cache and returns it. The caller puts it back while it is valid.
func (m *Cache) Take(at lookup.FenceKey) *Pool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, _ := m.pools.Peek(at)
	m.pools.Remove(at)
	return p
}

// Has reports whether the cache has an entry for a pool.
func (m *Cache) Has(at lookup.FenceKey) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pools.Contains(at)
}

// Return puts an unused entry back.
func (m *Cache) Return(at lookup.FenceKey, p *Pool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Add(at, p)
}

// Put caches a pool after a local transaction was the last to change it.
func (m *Cache) Put(at lookup.FenceKey, p *Pool) {
	p.trips++
	p.Pool.At, p.Pool.Labels, p.Pool.Annotations, p.Pool.Spec.Description, p.Pool.Spec.Reservations = "", nil, nil, "", nil
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Add(at, p)
}

// Invalidate removes a pool's stale entry.
func (m *Cache) Invalidate(at lookup.FenceKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Remove(at)
	m.invalidated.Add(at, m.ticks())
}

// MarkShort handles an entry that lacks needed rows. A short pool will then be read as a whole.
func (m *Cache) MarkShort(at lookup.FenceKey, p *Pool) {
	switch {
	case p.isShort():
		p.short = true
		m.Return(at, p)
	case p.trips < fewTrips:
		m.Invalidate(at)
	}
}

// IsShort reports whether to read a pool as a whole.
func (m *Cache) IsShort(at lookup.FenceKey) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, known := m.pools.Peek(at)
	return known && p.short
}

func (p *Pool) isShort() bool {
	blocks := int64(0)
	for _, n := range p.Fence.Stock.Free {
		blocks += n
	}
	return blocks < Short
}

// Remove removes a pool's entry after a local transaction changed the pool without reading it.
func (m *Cache) Remove(at lookup.FenceKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Remove(at)
}

// MayCache reports whether a pool may be cached now.
func (m *Cache) MayCache(at lookup.FenceKey) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	since, missed := m.invalidated.Peek(at)
	return !missed || m.ticks().Sub(since) > invalidatedAge
}

// Project returns a project's entry, or nil.
func (m *Cache) Project(id ipam.ID) *Project {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, _ := m.projects.Get(id)
	return p
}

// SetPlatform records the platform project's id.
func (m *Cache) SetPlatform(platform ipam.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.platform = platform
}

// Platform returns the platform project's id, or zero before SetPlatform.
func (m *Cache) Platform() ipam.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.platform
}

// PutProject caches the facts that were read about a project under a mark, and merges them with an entry under the same mark.
func (m *Cache) PutProject(id ipam.ID, read Project) {
	for _, parts := range read.Parts {
		for i := range parts {
			q := &parts[i].Quota
			q.Labels, q.Annotations, q.Spec.Description = nil, nil, ""
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if was, known := m.projects.Peek(id); known && was.Mark == read.Mark {
		parts := maps.Clone(was.Parts)
		if parts == nil {
			parts = map[int][]storage.QuotaPart{}
		}
		maps.Copy(parts, read.Parts)
		read.Parts = parts
		if read.Regions == nil {
			read.Regions = was.Regions
		}
		if read.Epoch == nil {
			read.Epoch = was.Epoch
		}
	}
	m.projects.Add(id, &read)
}

// RemoveProject removes a project's entry.
func (m *Cache) RemoveProject(id ipam.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.projects.Remove(id)
}

// AddUsage applies the usage that claims have added to a project's quota shards. Unknown shards are skipped: another transaction may have replaced the
// entry meanwhile.
func (m *Cache) AddUsage(id ipam.ID, updates []storage.ShardUpdate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, known := m.projects.Peek(id)
	if !known || len(updates) == 0 {
		return
	}
	now := *was
	now.Parts = maps.Clone(was.Parts)
	for _, u := range updates {
		parts := slices.Clone(now.Parts[u.Now.Shard])
		if i := slices.IndexFunc(parts, func(p storage.QuotaPart) bool { return p.Quota.UID == u.Now.QuotaID }); i >= 0 { // not found: another project's quota
			parts[i].Shard = u.Now
			now.Parts[u.Now.Shard] = parts
		}
	}
	m.projects.Add(id, &now)
}

// Quotas returns the project's quotas with the given shard, or with any cached shard: the quotas are the same for all shards.
func (p *Project) Quotas(shard int) (parts []storage.QuotaPart, known bool) {
	if parts, known = p.Parts[shard]; known {
		return parts, true
	}
	for _, parts = range p.Parts {
		return parts, true
	}
	return nil, false
}
