package logspike

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"
)

// pool is the state of a pool on this server. The worker that serves the pool owns all fields, except the first two.
type pool struct {
	waiting []*call // guarded by the queue's mutex
	queued  bool    // the pool is ready or has a worker; guarded by the queue's mutex

	id    ID
	store *store
	tree  *tree // nil if the pool is not loaded
	seq   int64 // of the last log row in the tree
	freed freed

	version    int64          // number of the snapshot that the tree is based on
	old        []netip.Prefix // blocks of pages that the next snapshot deletes
	unsaved    int            // changed blocks since the snapshot
	saving     atomic.Bool
	saveFailed atomic.Bool  // a snapshot failed; the tree must be loaded again
	pending    atomic.Int64 // unsaved, for other goroutines
}

// freed contains the blocks that became free recently. A release reads its hold before the pool's worker plans it. freed shows whether the hold may
// have ended in between.
type freed struct {
	ticks map[netip.Prefix]int64
	from  int64 // the map is complete from this tick on
}

// maxFreed limits the memory of freed.
const maxFreed = 1 << 14

func (f *freed) note(b netip.Prefix, tick int64) {
	if len(f.ticks) >= maxFreed {
		f.forget(tick)
	}
	f.ticks[b] = tick
}

func (f *freed) forget(tick int64) { f.ticks, f.from = map[netip.Prefix]int64{}, tick }

// since reports whether b may have become free after a tick.
func (f *freed) since(b netip.Prefix, tick int64) bool { return tick < f.from || f.ticks[b] > tick }

// reset removes the pool from memory.
func (p *pool) reset() { p.tree = nil }

// ready loads the pool if it is not in memory.
func (p *pool) ready(ctx context.Context, tick *atomic.Int64) error {
	if p.saveFailed.Swap(false) {
		p.reset()
	}
	if p.tree != nil {
		return nil
	}
	root, err := p.store.root(ctx, p.id)
	if err != nil {
		return err
	}
	p.tree, p.seq, p.version, p.old, p.unsaved = root.tree, root.seq, root.version, root.garbage, 0
	p.tree.load = func(ctx context.Context, items []*item) error {
		if err := p.store.pages(ctx, p.id, items); err != nil {
			return err
		}
		p.tree.loaded += len(items)
		return nil
	}
	p.freed.forget(0)
	if _, err := p.catchUp(ctx, tick); err != nil {
		return err
	}
	p.freed.forget(tick.Add(1)) // the snapshot may contain ends of holds that the map does not
	return nil
}

// catchUp applies the log rows that other servers wrote, and reports whether there were any.
func (p *pool) catchUp(ctx context.Context, tick *atomic.Int64) (news bool, err error) {
	log, err := p.store.tail(ctx, p.id, p.seq)
	if err != nil {
		return false, err
	}
	if len(log) > 0 && log[0].seq != p.seq+1 {
		return false, errReplaced // a newer snapshot contains the log rows, and the sweeper may have deleted them
	}
	var blocks []netip.Prefix
	for _, r := range log {
		for _, c := range r.body.Changes {
			blocks = append(blocks, c.Block)
		}
	}
	if err := p.tree.prefetch(ctx, blocks); err != nil {
		return false, err
	}
	for _, r := range log {
		for _, c := range r.body.Changes {
			if err := p.apply(ctx, c); err != nil {
				return false, err
			}
			if c.Op == opRelease {
				p.freed.note(c.Block, tick.Add(1))
			}
		}
		p.seq = r.seq
		p.unsaved += len(r.body.Changes)
	}
	return len(log) > 0, nil
}

// apply makes a change of the log in the tree.
func (p *pool) apply(ctx context.Context, c change) error {
	if c.Op == opRelease {
		return p.tree.give(ctx, p.tree.root, c.Block)
	}
	taken, err := p.tree.take(ctx, p.tree.root, c.Block)
	if err == nil && !taken {
		err = fmt.Errorf("log row %d of pool %s claims %s, which is not free", p.seq+1, p.id, c.Block)
	}
	return err
}

// undo reverts a change in the tree. All its pages are in memory.
func (p *pool) undo(c change) error {
	if c.Op == opClaim {
		return p.tree.give(context.Background(), p.tree.root, c.Block)
	}
	_, err := p.tree.take(context.Background(), p.tree.root, c.Block)
	return err
}

// save starts to write a snapshot. The tree can change meanwhile.
func (p *pool) save(ctx context.Context) {
	p.saving.Store(true)
	p.version++
	pages, garbage := p.tree.snapshot(p.version, p.seq)
	seq, replaced := p.seq, p.old
	p.old, p.unsaved = garbage, 0
	go func() {
		defer p.saving.Store(false)
		if err := p.store.saveSnapshot(ctx, p.id, pages, replaced, seq); err != nil {
			p.saveFailed.Store(true)
		}
	}()
}
