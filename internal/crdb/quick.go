package crdb

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/crdb/recall"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// quick plans a transaction from cached facts and sends it in one round trip.
type quick struct {
	lookup.Reader // uses no cache: its reads return storage.ErrForgotten

	region   string
	read     func(context.Context, func(lookup.Querier) error) error // runs a read outside the transaction
	memory   *recall.Memory
	now      func() time.Time
	pools    map[lookup.Place]*recall.Pool
	projects map[ipam.ID]*recall.Project
	several  []storage.Container
	classes  bool      // the projects' and the platform's marks (versions) cover all classes
	at       time.Time // lower bound for the transaction's time: later than each pool's last change
	changes  *storage.Changes
	proved   bool // a read has confirmed the cached facts
}

var _ storage.Tx = (*quick)(nil)

func newQuick(s *Store) *quick {
	t := &quick{region: s.region, memory: s.memory, now: s.clock.inOneTrip(s.engine), pools: map[lookup.Place]*recall.Pool{}, projects: map[ipam.ID]*recall.Project{}}
	t.read = func(ctx context.Context, fn func(lookup.Querier) error) error {
		return s.readNow(ctx, "claim_refused", fn)
	}
	t.Reader = s.readerBy(func(context.Context, string, func(lookup.Querier) error) error { return storage.ErrForgotten })
	return t
}

// Remembers implements storage.Store.
func (s *Store) Remembers(c storage.Container) bool { return s.memory.Knows(lookup.PlaceOf(c)) }

// InOneTrip implements storage.Store.
func (s *Store) InOneTrip(
	ctx context.Context, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) error,
) error {
	if err := s.mayChange(); err != nil {
		return err
	}
	if s.engine.locks() && !s.clock.exact() { // other engines have no better clock
		return storage.ErrForgotten
	}
	t := newQuick(s)
	err := fn(ctx, t)
	if err != nil || t.changes == nil {
		t.giveBack()
		if err == nil && t.proved {
			return nil
		}
		return storage.ErrForgotten
	}
	known := t.remembered()
	statements, err := write.Whole(s.region, *t.changes, known, s.engine.byKeys())
	if err != nil {
		t.giveBack()
		return storage.ErrForgotten
	}
	ctx, ended := sent(ctx)
	defer ended()
	end, state, err := s.try(ctx, op, 0, false, func(ctx context.Context) error {
		cn, release, err := s.acquire(ctx, false)
		if err != nil {
			return err
		}
		defer release()
		if s.engine.locks() {
			cn.locks = newLockSet(locks)
			cn.locks.atOnce = true
		}
		if err = cn.whole(ctx, statements, len(t.pools) > 1); err != nil && !outcome.IsUnknown(err) {
			cn.rollback(ctx)
		}
		return err
	})
	s.watch(Attempt{Op: op, End: end.String(), SQLState: state})
	if end == outcome.Committed {
		t.committed(known.Fences)
		return nil
	}
	if end == outcome.Unknown {
		t.missed()
		return s.unknown(ctx, op, 0, state, err)
	}
	return t.failed(s.conflictOf(ctx, err), end)
}

// failed returns the error for a transaction that did not commit: the conflict itself, so that the requests get it, or storage.ErrForgotten, which
// makes the caller use InTx.
func (t *quick) failed(conflict error, end outcome.Ending) error {
	switch c, is := storage.AsConflict(conflict); {
	case is:
		t.giveBack()
		return c
	case len(t.pools) > 1, end == outcome.AgainSlowly: // the next attempt finds out which pool it was
		t.giveBack()
	default:
		t.missed()
	}
	return storage.ErrForgotten
}

// remembered returns the cached facts that the changes depend on.
func (t *quick) remembered() write.Remembered {
	r := write.Remembered{
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

// committed updates the cache with the transaction's changes.
func (t *quick) committed(fences lookup.Fences) {
	for _, f := range t.changes.Free {
		t.pools[lookup.PlaceOf(f.Container)].Free.Apply(f.Delete, f.Insert)
	}
	for at, p := range t.pools {
		p.Fence, p.At = fences[at], t.at
		t.memory.Put(at, p)
	}
	for id := range t.projects {
		t.memory.Counted(id, t.changes.ShardUpdate)
	}
}

// giveBack returns the pools to the cache after a transaction that was not sent.
func (t *quick) giveBack() {
	for at, p := range t.pools {
		t.memory.GiveBack(at, p)
	}
}

// missed removes the pools and projects from the cache, after a transaction that found other facts or may have changed them.
func (t *quick) missed() {
	for at := range t.pools {
		t.memory.Missed(at)
	}
	for id := range t.projects {
		t.memory.ForgetProject(id)
	}
}

// GroupRead implements storage.Tx.
func (t *quick) GroupRead(_ context.Context, c storage.Container, reads space.Reads, q storage.GroupQuery) (facts storage.GroupFacts, err error) {
	at := lookup.PlaceOf(c)
	p := t.memory.Take(at)
	if p == nil {
		return facts, storage.ErrForgotten
	}
	t.pools[at] = p
	facts.Pool, facts.Granted = p.Pool, p.Granted
	facts.Pool.At = q.Pool.At
	if facts.Pool.Several() {
		t.several = append(t.several, c)
	} else {
		stock := p.Fence.Stock
		facts.Stock = &stock
	}
	for _, consumer := range q.Consumers {
		if !p.Granted[consumer] {
			return facts, storage.ErrForgotten
		}
	}
	for _, id := range q.Projects {
		of, err := t.project(id)
		if err != nil {
			return facts, err
		}
		parts, known := of.Quotas(q.Shard)
		if !known {
			return facts, storage.ErrForgotten
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

func (t *quick) project(id ipam.ID) (*recall.Project, error) {
	p := t.memory.Project(id)
	if p == nil {
		return nil, storage.ErrForgotten
	}
	t.projects[id] = p
	return p, nil
}

func (t *quick) epochs(classes []storage.ProjectKey) (map[ipam.ID]ipam.ID, error) {
	if len(classes) == 0 {
		return nil, nil //nolint:nilnil // the caller requested none
	}
	epochs, platform := map[ipam.ID]ipam.ID{}, t.memory.Platform()
	for _, key := range append(classes, storage.ProjectKey{ID: platform}) {
		p, err := t.project(key.ID)
		if err != nil || p.Epoch == nil {
			return nil, storage.ErrForgotten
		}
		epochs[key.ID] = *p.Epoch
	}
	epochs[ipam.ID{}], t.classes = epochs[platform], true
	return epochs, nil
}

func (t *quick) free(at lookup.Place, reads space.Reads) ([]netip.Prefix, error) {
	p := t.pools[at]
	free, known := p.Free.Answer(reads)
	if !known {
		delete(t.pools, at)
		t.memory.Lacked(at, p)
		return nil, storage.ErrForgotten
	}
	return free, nil
}

// FreeRead implements storage.Tx.
func (t *quick) FreeRead(_ context.Context, c storage.Container, reads space.Reads) ([]netip.Prefix, error) {
	at := lookup.PlaceOf(c)
	if t.pools[at] == nil {
		return nil, storage.ErrForgotten
	}
	return t.free(at, reads)
}

// inOneTrip returns the clock for transactions in one round trip. On PostgreSQL it is never later than the database's clock, so the next transaction
// with the pool's lock gets a later time. An engine without locks uses the same estimate as all other transactions.
func (c *storeClock) inOneTrip(e engine) func() time.Time {
	if e.locks() {
		return c.Earliest
	}
	return c.Now
}

// Now implements storage.Tx.
func (t *quick) Now() time.Time {
	t.at = later(t.at, t.now().Truncate(time.Microsecond).Add(-time.Microsecond))
	return t.at
}

// Attempt implements storage.Tx.
func (t *quick) Attempt() int { return 0 }

// Taken implements storage.Tx. A use case calls it before it refuses a request. It also reads all marks (versions). If they equal the cached marks,
// all cached facts under them were current at that moment. This does not cover pools in several regions.
func (t *quick) Taken(ctx context.Context, claims, keys []storage.NameRef) (taken, used map[storage.NameRef]bool, err error) {
	if len(t.several) > 0 {
		return nil, nil, storage.ErrForgotten
	}
	marks := make(map[lookup.Place]ipam.ID, len(t.pools)+len(t.projects))
	for at, p := range t.pools {
		marks[at] = p.Fence.Mark
	}
	for id, p := range t.projects {
		marks[lookup.Place{Region: t.region, ID: id}] = p.Mark
	}
	var found lookup.Fences
	err = t.read(ctx, func(q lookup.Querier) (err error) {
		found = make(lookup.Fences, len(marks))
		taken, used, err = lookup.TakenUnder(ctx, q, t.region, claims, keys, slices.Collect(maps.Keys(marks)), found)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for at, mark := range marks {
		if found[at].Mark != mark {
			t.missed()
			clear(t.pools)
			return nil, nil, storage.ErrForgotten
		}
	}
	t.proved = true
	return taken, used, nil
}

// Confirm implements storage.Tx.
func (t *quick) Confirm(context.Context) error { return storage.ErrForgotten }

// Write implements storage.Tx. It keeps the changes; InOneTrip sends them when the use case has decided.
func (t *quick) Write(_ context.Context, ch storage.Changes) error {
	t.changes = &ch
	return nil
}
