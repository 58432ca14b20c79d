package logspike

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/crdb/outcome"
)

const (
	groupDeadline = 15 * time.Second
	maxPause      = 100 * time.Millisecond // between two attempts
)

// serve serves the groups of several pools. It plans, sends, and retries until each call has its outcome.
func (e *Engine) serve(groups []*group) {
	ctx, cancel := context.WithTimeout(e.ctx, groupDeadline)
	defer cancel()
	for attempt := 0; len(groups) > 0; attempt++ {
		if err := pause(ctx, attempt); err != nil {
			failAll(groups, err)
		}
		e.attempt(ctx, groups)
		rest := groups[:0]
		for _, g := range groups {
			if !g.done() {
				rest = append(rest, g)
				continue
			}
			e.keep(g)
			e.requeue(g.pool)
		}
		groups = rest
	}
}

// pause waits before a later attempt.
func pause(ctx context.Context, attempt int) error {
	if attempt < 3 { // a conflict with another server is solved at once
		return ctx.Err()
	}
	timer := time.NewTimer(min(maxPause, time.Millisecond<<min(attempt, 10)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// attempt plans the groups, sends one INSERT, and finishes the calls that it can finish.
func (e *Engine) attempt(ctx context.Context, groups []*group) {
	b := newPlanner()
	for _, g := range groups {
		if g.done() {
			continue
		}
		if err := e.plan(ctx, g, b); err != nil {
			for _, planned := range groups { // all groups plan again
				planned.undo()
			}
			if !errors.Is(err, errFree) || !e.refresh(ctx, g) { // another server may have made the hold to release
				g.drop(err)
			}
			return
		}
	}
	if len(b.seq) > 0 {
		if err := b.addMeters(); err != nil {
			failAll(groups, err)
			return
		}
		end, err := e.store.insert(ctx, &b.rows)
		if end == unknown {
			end, err = e.resolve(b, err)
		}
		e.settle(ctx, groups, b, end, err)
	}
	for _, g := range groups {
		if !g.rows && !g.done() {
			e.confirm(ctx, g, b)
		}
	}
}

func failAll(groups []*group, err error) {
	for _, g := range groups {
		g.fail(err)
	}
}

// drop handles an error that occurred before the INSERT. The pool is loaded again, and the calls are planned again if that can help.
func (g *group) drop(err error) {
	g.pool.reset()
	if !retryable(err) {
		g.fail(err)
	}
}

// retryable reports whether a read or a rolled back transaction may succeed if it is repeated.
func retryable(err error) bool {
	if _, refused := errors.AsType[*Refusal](err); refused {
		return false
	}
	end, _ := outcome.Classify(err)
	return errors.Is(err, errReplaced) || end == outcome.Retry || end == outcome.RetrySlowly
}

// settle handles the outcome of an INSERT.
func (e *Engine) settle(ctx context.Context, groups []*group, b *planner, end ending, err error) {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return !g.rows })
	for _, g := range groups {
		if end == committed {
			e.commit(g, b)
		} else {
			g.undo()
		}
	}
	if err := e.settleMeters(ctx, b, end); err != nil {
		failAll(groups, err)
	}
	switch end {
	case committed, again:
	case keyTaken, outdated:
		for _, g := range groups {
			if e.noFence == "pool" {
				g.pool.seq++
				continue
			}
			e.refresh(ctx, g)
		}
	case clashed:
		if err := e.clashes(ctx, groups); err != nil && !retryable(err) {
			failAll(groups, err)
		}
	case unknown:
		failAll(groups, fmt.Errorf("the outcome is not known: %w", err))
		for _, g := range groups {
			g.pool.reset()
		}
	case refused:
		failAll(groups, err)
	}
}

// refresh applies the log rows of other servers to a pool. It reports whether the group must be planned again.
func (e *Engine) refresh(ctx context.Context, g *group) (news bool) {
	if g.pool.tree == nil {
		return true
	}
	news, err := g.pool.catchUp(ctx, &e.tick)
	if err != nil {
		g.drop(err)
		return true
	}
	return news
}

// confirm finishes a group in which no call is served. Refusals are final only if no other server has written since. A refused request with a key may
// be the repetition of a request that was served, so its key is looked up first.
func (e *Engine) confirm(ctx context.Context, g *group, b *planner) {
	refused := slices.ContainsFunc(g.calls, func(c *call) bool { return !c.ended && c.refusal != nil })
	if refused && (e.refresh(ctx, g) || e.refreshMeters(ctx, g, b)) {
		return
	}
	if err := e.repeated(ctx, []*group{g}); err != nil {
		g.drop(err)
	}
	for _, c := range g.calls {
		if !c.ended && (c.refusal != nil || c.save) {
			c.end(c.refusal)
		}
	}
}

// keep does the work on a pool that its group does not wait for: a snapshot, and the removal of pages from memory.
func (e *Engine) keep(g *group) {
	p := g.pool
	if p.tree == nil || p.saving.Load() {
		return
	}
	idle := slices.ContainsFunc(g.calls, func(c *call) bool { return c.save })
	if p.unsaved >= e.SaveAfter || p.tree.dirty >= e.SavePages || p.unsaved > 0 && idle {
		p.save(e.ctx)
		return
	}
	if p.tree.loaded > e.PagesPerPool {
		p.tree.evict(p.tree.root, p.tree.clock-evictAge)
	}
}

// evictAge is the number of groups for which an unused page stays in memory.
const evictAge = 16
