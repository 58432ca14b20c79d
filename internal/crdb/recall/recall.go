// Package recall keeps what a server remembers, between transactions, of pools and of the projects that claim from them, under the marks of their fences. What
// is remembered decides nothing: the transaction that was planned from it moves the marks from those that are remembered, or is not made.
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

// What is remembered at most. A pool takes 16 bytes for each of up to space.MaxKnown free blocks.
const (
	maxPools    = 4096
	maxProjects = 4096
)

// missedAge is how long a pool is not remembered, after what was remembered of it was not so any more: others work on it, and would make it untrue again.
const missedAge = time.Second

// fewTrips is how often what is remembered of a pool has to have served, for it to be worth while to read it again when rows are missing.
const fewTrips = 8

// Ahead is how many free blocks more than are needed are read of a pool that is to be remembered.
const Ahead = 128

// Short is more free blocks than a pool has that is remembered whole, once rows were missing of what was remembered of it: for releases, which may be anywhere.
const Short = 512

// Pool is what is remembered of a pool in a region. It is for one transaction at a time.
type Pool struct {
	Fence   lookup.Fence
	Pool    ipam.Pool
	Granted map[string]bool // to these projects, by name
	Free    *space.Known
	At      time.Time // of the last transaction that changed it

	trips int
	lacks bool // rows of a short free list
}

// Project is what is remembered of a project. It is never changed.
type Project struct {
	Mark    ipam.ID
	Regions []string                    // those in which it may have claims
	Epoch   *ipam.ID                    // of its classes; nil: not known
	Parts   map[int][]storage.QuotaPart // its quotas, by shards; their figures may be older than the mark
}

// Memory is safe for concurrent use.
type Memory struct {
	ticks    func() time.Time
	mu       sync.Mutex
	pools    *lru.Cache[lookup.Place, *Pool]
	missed   *lru.Cache[lookup.Place, time.Time]
	projects *lru.Cache[ipam.ID, *Project]
	platform ipam.ID
}

// New makes a memory of nothing. ticks says how much time has passed.
func New(ticks func() time.Time) *Memory {
	return &Memory{ticks: ticks, pools: cache[lookup.Place, *Pool](maxPools), missed: cache[lookup.Place, time.Time](maxPools), projects: cache[ipam.ID, *Project](maxProjects)}
}

func cache[K comparable, V any](most int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](most)
	if err != nil {
		panic(err) // of a size below one
	}
	return c
}

// Take answers what is remembered of a pool, and forgets it: whoever has it puts it back when it is still so.
func (m *Memory) Take(at lookup.Place) *Pool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, _ := m.pools.Peek(at)
	m.pools.Remove(at)
	return p
}

// Knows reports whether anything is remembered of a pool.
func (m *Memory) Knows(at lookup.Place) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pools.Contains(at)
}

// GiveBack remembers again what was taken.
func (m *Memory) GiveBack(at lookup.Place, p *Pool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Add(at, p)
}

// Put remembers a pool that a transaction of ours was the last to change.
func (m *Memory) Put(at lookup.Place, p *Pool) {
	p.trips++
	p.Pool.At, p.Pool.Labels, p.Pool.Annotations, p.Pool.Spec.Description, p.Pool.Spec.Reservations = "", nil, nil, "", nil
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Add(at, p)
}

// Missed notes that what was remembered of a pool was not so any more.
func (m *Memory) Missed(at lookup.Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Remove(at)
	m.missed.Add(at, m.ticks())
}

// Lacked notes that rows were missing of what was remembered of a pool. A short one is going to be read whole.
func (m *Memory) Lacked(at lookup.Place, p *Pool) {
	switch {
	case p.short():
		p.lacks = true
		m.GiveBack(at, p)
	case p.trips < fewTrips:
		m.Missed(at)
	}
}

// Lacks reports whether a pool is to be read whole.
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

// Forget is for pools that a transaction of ours has changed and does not know.
func (m *Memory) Forget(at lookup.Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools.Remove(at)
}

// Wants reports whether a pool is to be remembered from now on.
func (m *Memory) Wants(at lookup.Place) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	since, missed := m.missed.Peek(at)
	return !missed || m.ticks().Sub(since) > missedAge
}

// Project answers what is remembered of a project.
func (m *Memory) Project(id ipam.ID) *Project {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, _ := m.projects.Get(id)
	return p
}

// Meet notes which project is the platform's.
func (m *Memory) Meet(platform ipam.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.platform = platform
}

// Platform is the platform's project, once it has been met.
func (m *Memory) Platform() ipam.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.platform
}

// Learn remembers what was read of a project under a mark, beside what is remembered under the same.
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

// ForgetProject forgets a project.
func (m *Memory) ForgetProject(id ipam.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.projects.Remove(id)
}

// Counted follows what claims have counted in the shards of a project's quotas, as far as those are remembered: another transaction may have read the
// project anew meanwhile, without them.
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
		if i := slices.IndexFunc(parts, func(p storage.QuotaPart) bool { return p.Quota.UID == u.Now.QuotaID }); i >= 0 { // or else it is another project's
			parts[i].Shard = u.Now
			now.Parts[u.Now.Shard] = parts
		}
	}
	m.projects.Add(id, &now)
}

// Quotas are the project's, each with the shard that is asked for, or with any that is known: what is counted is the same in all.
func (p *Project) Quotas(shard int) (parts []storage.QuotaPart, known bool) {
	if parts, known = p.Parts[shard]; known {
		return parts, true
	}
	for _, parts = range p.Parts {
		return parts, true
	}
	return nil, false
}
