package logspike

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options configure an engine. Zero values mean the defaults.
type Options struct {
	Workers      int           // INSERTs under way at the same time
	PoolsPerSend int           // pools in one INSERT
	CallsPerSend int           // requests in one INSERT
	SaveAfter    int           // changed blocks after which a pool's snapshot is written
	SavePages    int           // changed pages after which it is written
	PagesPerPool int           // pages of a pool in memory
	Recent       int           // holds that this engine made, in memory
	Sweep        time.Duration // interval of the sweeper; negative means never
	Hook         func(step string) error
}

// defaults fills the options that are zero.
func (o Options) defaults() Options {
	for value, standard := range map[*int]int{&o.Workers: 2, &o.PoolsPerSend: 64, &o.CallsPerSend: 256, &o.SaveAfter: 1024, &o.SavePages: 256, &o.PagesPerPool: 4096, &o.Recent: 100_000} {
		if *value == 0 {
			*value = standard
		}
	}
	if o.Sweep == 0 {
		o.Sweep = time.Second
	}
	return o
}

// Engine serves requests on the pools of a database.
type Engine struct {
	Options
	store *store
	ctx   context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup
	tick  atomic.Int64 // counts the blocks that became free in any cached tree
	look  lookups
	// recent contains holds that this engine made. A release of them needs no look-up.
	recent *lru.Cache[use, recentHold]

	mu      sync.Mutex
	pools   map[ID]*pool
	meters  map[ID]*meter
	busy    map[ID]bool // quotas that a worker uses
	ready   []*pool     // pools with waiting requests and without a worker
	workers int

	noFence string // for a test: write the next log row of a "pool" or a "quota" without a new plan if the key is taken
}

// call is a request in a queue.
type call struct {
	Request
	release Hold  // the hold to release
	tick    int64 // a tick before release was read
	save    bool  // no request: write a snapshot

	planned []change // changes of the current plan, not yet written
	refusal error    // of the current plan
	holds   []Hold
	err     error
	ended   bool
	done    chan struct{}
}

// end finishes a call.
func (c *call) end(err error) {
	c.err, c.ended = err, true
	close(c.done)
}

// New starts an engine.
func New(db *pgxpool.Pool, o Options) *Engine {
	e := &Engine{Options: o.defaults(), store: &store{db: db, hook: o.Hook}, pools: map[ID]*pool{}, meters: map[ID]*meter{}, busy: map[ID]bool{}}
	e.recent, _ = lru.New[use, recentHold](e.Recent) // the size is positive
	e.ctx, e.stop = context.WithCancel(context.Background())
	e.work.Go(e.background)
	return e
}

// Close stops the engine. Requests under way end with an error.
func (e *Engine) Close() {
	e.stop()
	e.work.Wait()
}

// Submit serves a request. It returns the holds that were made, or the hold that was released.
func (e *Engine) Submit(ctx context.Context, r Request) ([]Hold, error) {
	for {
		if holds, err := e.submit(ctx, r); !errors.Is(err, errMoved) {
			return holds, err
		}
	}
}

func (e *Engine) submit(ctx context.Context, r Request) ([]Hold, error) {
	c := &call{Request: r, done: make(chan struct{})}
	if len(r.Claims) == 0 {
		if err := e.findHold(ctx, c); err != nil {
			return nil, err
		}
	}
	e.add(c)
	select {
	case <-c.done:
		return c.holds, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.ctx.Done():
		return nil, e.ctx.Err()
	}
}

// recentHold is a hold with a tick before it was made.
type recentHold struct {
	Hold
	tick int64
}

// findHold finds the hold that a call releases.
func (e *Engine) findHold(ctx context.Context, c *call) (err error) {
	name := use{project: c.Project, text: c.Release}
	if r, ok := e.recent.Get(name); ok {
		e.recent.Remove(name)
		c.release, c.tick = r.Hold, r.tick
	} else {
		c.tick = e.tick.Load()
		c.release, err = e.find(ctx, c.Project, c.Release)
	}
	c.Pool = c.release.Pool
	return err
}

// add puts a call into the queue of its pool, and starts a worker if one is allowed.
func (e *Engine) add(c *call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.pools[c.Pool]
	if p == nil {
		p = &pool{id: c.Pool, store: e.store}
		e.pools[c.Pool] = p
	}
	p.waiting = append(p.waiting, c)
	if p.queued {
		return
	}
	p.queued = true
	e.ready = append(e.ready, p)
	if e.workers < e.Workers && e.ctx.Err() == nil {
		e.workers++
		e.work.Go(e.serveReady)
	}
}

// serveReady serves ready pools until there are none.
func (e *Engine) serveReady() {
	var quotas []ID
	for {
		var groups []*group
		if groups, quotas = e.next(quotas); len(groups) == 0 {
			return
		}
		e.serve(groups)
	}
}

// next takes ready pools with their calls, and the quotas of these calls. It returns the quotas of the groups before. It leaves pools whose calls have
// a quota that another worker uses. If no pool remains, the worker must end.
func (e *Engine) next(before []ID) (groups []*group, quotas []ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, quota := range before {
		delete(e.busy, quota)
	}
	calls, ready := 0, e.ready
	e.ready = nil
	for _, p := range ready {
		n := min(len(p.waiting), e.CallsPerSend-calls)
		elsewhere := func(c *call) bool { return e.busy[c.Quota] && !slices.Contains(quotas, c.Quota) }
		if n == 0 || len(groups) == e.PoolsPerSend || e.ctx.Err() != nil || slices.ContainsFunc(p.waiting[:n], elsewhere) {
			e.ready = append(e.ready, p)
			continue
		}
		for _, c := range p.waiting[:n] {
			if c.Quota != (ID{}) && !e.busy[c.Quota] {
				e.busy[c.Quota] = true
				quotas = append(quotas, c.Quota)
			}
		}
		groups = append(groups, &group{pool: p, calls: slices.Clone(p.waiting[:n])})
		p.waiting = slices.Delete(p.waiting, 0, n)
		calls += n
	}
	if len(groups) == 0 {
		e.workers--
	}
	return groups, quotas
}

// requeue returns a pool to the queue after its group. If calls wait for it, it is ready again.
func (e *Engine) requeue(p *pool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.pending.Store(int64(p.unsaved))
	p.queued = len(p.waiting) > 0
	if p.queued {
		e.ready = append(e.ready, p)
	}
}

// background writes the snapshots of idle pools and deletes ended holds.
func (e *Engine) background() {
	if e.Sweep < 0 {
		return
	}
	ticker := time.NewTicker(e.Sweep)
	defer ticker.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-ticker.C:
		}
		for _, p := range e.idle() {
			e.add(&call{Request: Request{Pool: p}, save: true, done: make(chan struct{})})
		}
		for _, p := range e.known() {
			if err := e.store.sweep(e.ctx, p); err != nil {
				break // the next tick tries again
			}
		}
	}
}

// idle lists the pools with changes that no snapshot contains, and without requests.
func (e *Engine) idle() (idle []ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, p := range e.pools {
		if !p.queued && p.pending.Load() > 0 {
			idle = append(idle, id)
		}
	}
	return idle
}

func (e *Engine) known() (ids []ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.pools {
		ids = append(ids, id)
	}
	return ids
}
