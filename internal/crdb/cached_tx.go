package crdb

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/catalogcache"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// cachedTx plans a transaction from cached facts. InOneRoundTrip then sends the whole transaction in one round trip.
type cachedTx struct {
	lookup.Reader // sends no query: every read returns storage.ErrCacheMiss

	store     *Store
	now       func() time.Time
	pools     map[lookup.FenceKey]*catalogcache.Pool
	projects  map[ipam.ID]*catalogcache.Project
	several   []storage.Container
	classes   bool      // true: the transaction also depends on the classes in its projects and in the platform project
	at        time.Time // lower bound for the transaction's time; later than the last change to each pool
	changes   *storage.Changes
	confirmed bool // a read has confirmed the cached facts
}

var _ storage.Tx = (*cachedTx)(nil)

func newCachedTx(s *Store) *cachedTx {
	t := &cachedTx{store: s, now: s.clock.forOneRoundTrip(s.engine), pools: map[lookup.FenceKey]*catalogcache.Pool{}, projects: map[ipam.ID]*catalogcache.Project{}}
	t.Reader = s.readerBy(func(context.Context, string, func(lookup.Querier) error) error { return storage.ErrCacheMiss })
	return t
}

// HasCached implements storage.Store.
func (s *Store) HasCached(c storage.Container) bool { return s.memory.Has(lookup.FenceKeyOf(c)) }

// InOneRoundTrip implements storage.Store.
func (s *Store) InOneRoundTrip(
	ctx context.Context, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) error,
) error {
	if err := s.mayChange(); err != nil {
		return err
	}
	if s.engine.usesLocks() && !s.clock.isExact() { // on CockroachDB every transaction uses this estimate, however exact it is
		return storage.ErrCacheMiss
	}
	t := newCachedTx(s)
	err := fn(ctx, t)
	if err != nil || t.changes == nil {
		t.returnPools()
		if err == nil && t.confirmed {
			return nil
		}
		return storage.ErrCacheMiss
	}
	known := t.cachedFacts()
	statements, err := write.OneRoundTrip(s.region, *t.changes, known, s.engine.byKeys())
	if err != nil {
		t.returnPools()
		return storage.ErrCacheMiss
	}
	ctx, ended := sent(ctx)
	defer ended()
	end, state, err := s.try(ctx, op, 0, false, func(ctx context.Context) error {
		cn, release, err := s.acquire(ctx, false)
		if err != nil {
			return err
		}
		defer release()
		if s.engine.usesLocks() {
			cn.locks = newLockSet(locks)
			cn.locks.noWait = true
		}
		if err = cn.runWhole(ctx, statements, len(t.pools) > 1); err != nil && !outcome.IsUnknown(err) {
			cn.rollback(ctx)
		}
		return err
	})
	s.watch(Attempt{Op: op, End: end.String(), SQLState: state})
	if end == outcome.Committed {
		t.updateCache(known.Fences)
		return nil
	}
	if end == outcome.Indeterminate {
		t.invalidate()
		return s.outcomeUnknown(ctx, op, 0, state, err)
	}
	return t.failure(s.conflictOf(ctx, err), end)
}

// failure returns the error for a transaction that did not commit. It returns a conflict about names or keys unchanged, because the requests must get
// it. Any other error becomes storage.ErrCacheMiss, and the caller then uses InTx.
func (t *cachedTx) failure(conflict error, end outcome.Ending) error {
	switch c, is := storage.AsConflict(conflict); {
	case is:
		t.returnPools()
		return c
	case len(t.pools) > 1, end == outcome.RetrySlowly: // the error does not show which pool is stale, so all stay cached; the next attempt finds the stale pool
		t.returnPools()
	default:
		t.invalidate()
	}
	return storage.ErrCacheMiss
}

// cachedFacts returns the cached facts on which the changes depend.
func (t *cachedTx) cachedFacts() write.CachedFacts {
	r := write.CachedFacts{
		Fences: make(lookup.Fences, len(t.pools)), Projects: make(map[ipam.ID]ipam.ID, len(t.projects)),
		Regions: make(map[ipam.ID][]string, len(t.projects)), Several: t.several, Classes: t.classes,
	}
	for at, p := range t.pools {
		r.Fences[at] = p.Fence
	}
	for id, p := range t.projects {
		r.Projects[id], r.Regions[id] = p.Mark, p.Regions
	}
	return r
}

// updateCache updates the cache with the transaction's changes.
func (t *cachedTx) updateCache(fences lookup.Fences) {
	for _, f := range t.changes.Free {
		t.pools[lookup.FenceKeyOf(f.Container)].Free.Apply(f.Delete, f.Insert)
	}
	for at, p := range t.pools {
		p.Fence, p.At = fences[at], t.at
		t.store.memory.Put(at, p)
	}
	for id := range t.projects {
		t.store.memory.AddUsage(id, t.changes.ShardUpdate)
	}
}

// returnPools puts the pools back into the cache unchanged. It is for a transaction that changed nothing.
func (t *cachedTx) returnPools() {
	for at, p := range t.pools {
		t.store.memory.Return(at, p)
	}
}

// invalidate removes the transaction's pools and projects from the cache. Their cached facts are stale, or the transaction may have changed them.
func (t *cachedTx) invalidate() {
	for at := range t.pools {
		t.store.memory.Invalidate(at)
	}
	for id := range t.projects {
		t.store.memory.RemoveProject(id)
	}
}

// GroupRead implements storage.Tx.
func (t *cachedTx) GroupRead(_ context.Context, c storage.Container, reads freespace.Reads, q storage.GroupQuery) (facts storage.GroupFacts, err error) {
	at := lookup.FenceKeyOf(c)
	p := t.store.memory.Take(at)
	if p == nil {
		return facts, storage.ErrCacheMiss
	}
	t.pools[at] = p
	facts.Pool, facts.Granted = p.Pool, p.Granted
	facts.Pool.UsedIn = q.Pool.UsedIn
	if facts.Pool.MultiRegion() {
		t.several = append(t.several, c)
	} else {
		stock := p.Fence.Stock
		facts.Stock = &stock
	}
	for _, consumer := range q.Consumers {
		if !p.Granted[consumer] {
			return facts, storage.ErrCacheMiss
		}
	}
	for _, id := range q.Projects {
		of, err := t.project(id)
		if err != nil {
			return facts, err
		}
		parts, known := of.Quotas(q.Shard)
		if !known {
			return facts, storage.ErrCacheMiss
		}
		facts.Quotas = append(facts.Quotas, parts...)
	}
	if facts.Epochs, err = t.epochs(q.Classes); err != nil {
		return facts, err
	}
	t.at = later(t.at, p.At)
	facts.Free, err = t.free(at, reads)
	return facts, err
}

func later(a, b time.Time) time.Time {
	if b = b.Add(time.Microsecond); b.After(a) {
		return b
	}
	return a
}

func (t *cachedTx) project(id ipam.ID) (*catalogcache.Project, error) {
	p := t.store.memory.Project(id)
	if p == nil {
		return nil, storage.ErrCacheMiss
	}
	t.projects[id] = p
	return p, nil
}

func (t *cachedTx) epochs(classes []storage.ProjectKey) (map[ipam.ID]ipam.ID, error) {
	if len(classes) == 0 {
		return nil, nil //nolint:nilnil // the caller requested none
	}
	epochs, platform := map[ipam.ID]ipam.ID{}, t.store.memory.Platform()
	for _, key := range append(classes, storage.ProjectKey{ID: platform}) {
		p, err := t.project(key.ID)
		if err != nil || p.Epoch == nil {
			return nil, storage.ErrCacheMiss
		}
		epochs[key.ID] = *p.Epoch
	}
	epochs[ipam.ID{}], t.classes = epochs[platform], true
	return epochs, nil
}

func (t *cachedTx) free(at lookup.FenceKey, reads freespace.Reads) ([]netip.Prefix, error) {
	p := t.pools[at]
	free, known := p.Free.Read(reads)
	if !known {
		delete(t.pools, at)
		t.store.memory.MarkShort(at, p)
		return nil, storage.ErrCacheMiss
	}
	return free, nil
}

// FreeRead implements storage.Tx.
func (t *cachedTx) FreeRead(_ context.Context, c storage.Container, reads freespace.Reads) ([]netip.Prefix, error) {
	at := lookup.FenceKeyOf(c)
	if t.pools[at] == nil {
		return nil, storage.ErrCacheMiss
	}
	return t.free(at, reads)
}

// forOneRoundTrip returns the clock for transactions in one round trip.
//
// On PostgreSQL this clock is never later than the database's clock. The next transaction gets its time from the pool's lock, so its time is later.
// CockroachDB has no such locks. There it is the same clock as for all other transactions.
func (c *storeClock) forOneRoundTrip(e engine) func() time.Time {
	if e.usesLocks() {
		return c.Earliest
	}
	return c.Now
}

// Now implements storage.Tx.
func (t *cachedTx) Now() time.Time {
	t.at = later(t.at, t.now().Truncate(time.Microsecond).Add(-time.Microsecond))
	return t.at
}

// Attempt implements storage.Tx.
func (t *cachedTx) Attempt() int { return 0 }

// Taken implements storage.Tx. A use case calls Taken before the use case refuses a request because of cached facts.
//
// So Taken also reads the current versions for all used pools and projects. If they equal the cached versions, all cached facts were current at that
// moment, and the refusal is correct. For a pool in several regions that check is not enough, so Taken returns storage.ErrCacheMiss.
func (t *cachedTx) Taken(ctx context.Context, claims, keys []storage.NameRef) (taken, used map[storage.NameRef]bool, err error) {
	if len(t.several) > 0 {
		return nil, nil, storage.ErrCacheMiss
	}
	marks := make(map[lookup.FenceKey]ipam.ID, len(t.pools)+len(t.projects))
	for at, p := range t.pools {
		marks[at] = p.Fence.Mark
	}
	for id, p := range t.projects {
		marks[lookup.FenceKey{Region: t.store.region, ID: id}] = p.Mark
	}
	var found lookup.Fences
	err = t.store.readNow(ctx, "claim_refused", func(q lookup.Querier) (err error) {
		found = make(lookup.Fences, len(marks))
		taken, used, err = lookup.Taken(ctx, q, t.store.region, claims, keys, slices.Collect(maps.Keys(marks)), found)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for at, mark := range marks {
		if found[at].Mark != mark {
			t.invalidate()
			clear(t.pools)
			return nil, nil, storage.ErrCacheMiss
		}
	}
	t.confirmed = true
	return taken, used, nil
}

// Confirm implements storage.Tx.
func (t *cachedTx) Confirm(context.Context) error { return storage.ErrCacheMiss }

// Write implements storage.Tx. It only keeps the changes. InOneRoundTrip sends them after the use case has ended.
func (t *cachedTx) Write(_ context.Context, ch storage.Changes) error {
	t.changes = &ch
	return nil
}
