// Package catalogcache caches facts about pools and about the projects that claim from them. The facts stay in the cache between transactions.
//
// Each entry belongs to a version (Mark), which is stored in the version row (the fence) of the pool or project. A stale entry does no harm. A
// transaction that is planned from cached facts also replaces the cached versions, and it fails if they have changed.
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

// Limits for the number of cached pools and projects. A cached pool takes 16 bytes for each free block, and has at most freespace.MaxCachedBlocks
// free blocks.
const (
	maxPools    = 4096
	maxProjects = 4096
)

// invalidatedAge is the time for which a pool is not cached after its entry was stale. Another server changes this pool, and would soon make a new
// entry stale too.
const invalidatedAge = time.Second

// fewTrips is the number of uses after which an entry was worth the read that filled it. If an entry lacks free blocks after fewer uses, the pool is
// not cached for a while.
const fewTrips = 8

// PrefetchLength is the number of additional free blocks that a transaction reads for a pool that will be cached.
const PrefetchLength = 128

// Short is the limit below which a pool counts as short of free blocks. If the cache entry of such a pool lacks blocks, the next transaction reads
// all its free blocks. That helps releases, because a released block may be anywhere in the pool.
const Short = 512

// Pool is the cache entry of a pool in a region. Only one transaction uses it at a time.
type Pool struct {
	Fence   lookup.Fence
	Pool    ipam.Pool
	Granted map[string]bool // projects that have a grant, by name
	Free    *freespace.FreeListCache
	At      time.Time // time of the last change to the pool

	trips int
	short bool // the pool is short, and its entry lacked free blocks
}

// Project is the cache entry of a project. It is immutable.
type Project struct {
	Mark    ipam.ID
	Regions []string                    // regions in which it may have claims
	Epoch   *ipam.ID                    // version of its classes; nil: unknown
	Parts   map[int][]storage.QuotaPart // its quotas by shard; their usage may be older than Mark
}

// Cache is the cache of pools and projects. It is safe for concurrent use.
type Cache struct {
	ticks       func() time.Time
	mu          sync.Mutex
	pools       *lru.Cache[lookup.FenceKey, *Pool]
	invalidated *lru.Cache[lookup.FenceKey, time.Time]
	projects    *lru.Cache[ipam.ID, *Project]
	platform    ipam.ID
}

// New returns an empty cache. ticks is a clock that measures durations.
func New(ticks func() time.Time) *Cache {
	return &Cache{ticks: ticks, pools: newLRU[lookup.FenceKey, *Pool](maxPools), invalidated: newLRU[lookup.FenceKey, time.Time](maxPools), projects: newLRU[ipam.ID, *Project](maxProjects)}
}

func newLRU[K comparable, V any](limit int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](limit)
	if err != nil {
		panic(err) // only for a size below one
	}
	return c
}

// Take removes the entry of a pool from the cache and returns it. The caller puts it back if it is still valid.
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

// Return puts back an entry that the caller has not changed.
func (m *Cache) Return(at lookup.FenceKey, p *Pool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Add(at, p)
}

// Put caches a pool after a transaction of this server. p must describe the pool at the version in p.Fence.
func (m *Cache) Put(at lookup.FenceKey, p *Pool) {
	p.trips++
	p.Pool.UsedIn, p.Pool.Labels, p.Pool.Annotations, p.Pool.Spec.Description, p.Pool.Spec.Reservations = "", nil, nil, "", nil
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Add(at, p)
}

// Invalidate removes the stale entry of a pool. For invalidatedAge, the pool is not cached again.
func (m *Cache) Invalidate(at lookup.FenceKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Remove(at)
	m.invalidated.Add(at, m.ticks())
}

// MarkShort handles an entry that lacks free blocks that a transaction needs. If the pool is short, the next transaction reads the whole pool.
func (m *Cache) MarkShort(at lookup.FenceKey, p *Pool) {
	switch {
	case p.isShort():
		p.short = true
		m.Return(at, p)
	case p.trips < fewTrips:
		m.Invalidate(at)
	}
}

// IsShort reports whether the next transaction must read a whole pool.
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

// Remove removes the entry of a pool after a transaction of this server changed the pool without reading it.
func (m *Cache) Remove(at lookup.FenceKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Remove(at)
}

// MayCache reports whether a pool may be cached now (see Invalidate).
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

// PutProject caches the facts that were read about a project. If the cached entry has the same version, PutProject keeps its other facts.
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

// AddUsage updates the quota shards of a project after a transaction changed their usage. It skips shards that the entry lacks, because another
// transaction may have replaced the entry.
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
		if i := slices.IndexFunc(parts, func(p storage.QuotaPart) bool { return p.Quota.UID == u.Now.QuotaID }); i >= 0 { // not found: the shard belongs to another project's quota
			parts[i].Shard = u.Now
			now.Parts[u.Now.Shard] = parts
		}
	}
	m.projects.Add(id, &now)
}

// Quotas returns the quotas of the project for a shard. If that shard is not cached, it returns the quotas for any other shard, because all shards
// have the same quotas.
func (p *Project) Quotas(shard int) (parts []storage.QuotaPart, known bool) {
	if parts, known = p.Parts[shard]; known {
		return parts, true
	}
	for _, parts = range p.Parts {
		return parts, true
	}
	return nil, false
}
