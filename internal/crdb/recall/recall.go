// Package recall caches the facts about pools, and about the projects that claim from them, between transactions. Each entry belongs to a mark, the
// version in the pool's or project's fence (version row). A stale entry does no harm: the transaction that was planned from it replaces the cached
// marks, and fails if they have changed.
package recall

import (
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Limits for cached pools and projects. A pool takes 16 bytes for each free block, and has at most space.MaxKnown.
const (
	maxPools    = 4096
	maxProjects = 4096
)

// missedAge is the time for which a pool is not cached after a stale entry: other servers change the pool and would invalidate a new entry.
const missedAge = time.Second

// fewTrips is the number of uses that make an entry worth a new read when it lacks rows.
const fewTrips = 8

// Ahead is the number of additional free blocks to read for a pool that will be cached.
const Ahead = 128

// Short bounds the free blocks in a pool that is read as a whole after its entry lacked rows. That serves releases, which may be anywhere in the
// pool.
const Short = 512

// Pool is the cache entry for a pool in a region. One transaction uses it at a time.
type Pool struct {
	Fence   lookup.Fence
	Pool    ipam.Pool
	Granted map[string]bool // projects with a grant, by name
	Free    *space.Known
	At      time.Time // when a transaction last changed the pool

	trips int
	lacks bool // a short free list lacked rows
}

// Project is the cache entry for a project. It is immutable.
type Project struct {
	Mark    ipam.ID
	Regions []string                    // regions in which it may have claims
	Epoch   *ipam.ID                    // its classes' version; nil: unknown
	Parts   map[int][]storage.QuotaPart // its quotas by shard; their figures may be older than the mark
}

// Memory is the cache. It is safe for concurrent use.
type Memory struct {
	ticks    func() time.Time
	mu       sync.Mutex
	pools    *lru.Cache[lookup.Place, *Pool]
	missed   *lru.Cache[lookup.Place, time.Time]
	projects *lru.Cache[ipam.ID, *Project]
	platform ipam.ID
}

// New returns an empty cache. ticks returns a time for durations.
func New(ticks func() time.Time) *Memory {
	return &Memory{ticks: ticks, pools: cache[lookup.Place, *Pool](maxPools), missed: cache[lookup.Place, time.Time](maxPools), projects: cache[ipam.ID, *Project](maxProjects)}
}

func cache[K comparable, V any](most int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](most)
	if err != nil {
		panic(err) // only for a size below one
	}
	return c
}

// Take removes a pool's entry from the cache and returns it. The caller puts it back while it is valid.
func (m *Memory) Take(at lookup.Place) *Pool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, _ := m.pools.Peek(at)
	m.pools.Remove(at)
	return p
}

// Knows reports whether the cache has an entry for a pool.
func (m *Memory) Knows(at lookup.Place) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pools.Contains(at)
}

// GiveBack puts an unused entry back.
func (m *Memory) GiveBack(at lookup.Place, p *Pool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Add(at, p)
}

// Put caches a pool after a local transaction was the last to change it.
func (m *Memory) Put(at lookup.Place, p *Pool) {
	p.trips++
	p.Pool.At, p.Pool.Labels, p.Pool.Annotations, p.Pool.Spec.Description, p.Pool.Spec.Reservations = "", nil, nil, "", nil
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Add(at, p)
}

// Missed removes a pool's stale entry.
func (m *Memory) Missed(at lookup.Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Remove(at)
	m.missed.Add(at, m.ticks())
}

// Lacked handles an entry that lacks needed rows. A short pool will then be read as a whole.
func (m *Memory) Lacked(at lookup.Place, p *Pool) {
	switch {
	case p.short():
		p.lacks = true
		m.GiveBack(at, p)
	case p.trips < fewTrips:
		m.Missed(at)
	}
}

// Lacks reports whether to read a pool as a whole.
func (m *Memory) Lacks(at lookup.Place) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, known := m.pools.Peek(at)
	return known && p.lacks
}

func (p *Pool) short() bool {
	blocks := int64(0)
	for _, n := range p.Fence.Stock.Free {
		blocks += n
	}
	return blocks < Short
}

// Forget removes a pool's entry after a local transaction changed the pool without reading it.
func (m *Memory) Forget(at lookup.Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Remove(at)
}

// Wants reports whether a pool may be cached now.
func (m *Memory) Wants(at lookup.Place) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	since, missed := m.missed.Peek(at)
	return !missed || m.ticks().Sub(since) > missedAge
}

// Project returns a project's entry, or nil.
func (m *Memory) Project(id ipam.ID) *Project {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, _ := m.projects.Get(id)
	return p
}

// Meet records the platform project's id.
func (m *Memory) Meet(platform ipam.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.platform = platform
}

// Platform returns the platform project's id, or zero before Meet.
func (m *Memory) Platform() ipam.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.platform
}

// Learn caches the facts that were read about a project under a mark, and merges them with an entry under the same mark.
func (m *Memory) Learn(id ipam.ID, read Project) {
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

// ForgetProject removes a project's entry.
func (m *Memory) ForgetProject(id ipam.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.projects.Remove(id)
}

// Counted applies the usage that claims have added to a project's quota shards. Unknown shards are skipped: another transaction may have replaced the
// entry meanwhile.
func (m *Memory) Counted(id ipam.ID, updates []storage.ShardUpdate) {
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
