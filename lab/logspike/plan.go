package logspike

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/google/uuid"
)

// group is the calls of one pool that a worker serves.
type group struct {
	pool  *pool
	calls []*call
	rows  bool // the current plan has rows
}

// planner collects the rows of one INSERT.
type planner struct {
	rows
	used   map[use]bool
	meters map[ID]*meter // of the quotas that the plan uses
}

// use is a name or an idempotency key in a project. One INSERT cannot contain it twice.
type use struct {
	project ID
	text    string
	key     bool
}

func newPlanner() *planner {
	return &planner{rows: rows{group: uuid.New()}, used: map[use]bool{}, meters: map[ID]*meter{}}
}

// plan plans the unfinished calls of a group. It changes the tree, and undo reverts this.
func (e *Engine) plan(ctx context.Context, g *group, b *planner) error {
	p := g.pool
	g.rows = false
	if err := p.ready(ctx, &e.tick); err != nil {
		return err
	}
	p.tree.clock++
	var log logBody
	for n, c := range g.calls {
		c.planned, c.refusal = c.planned[:0], nil
		if c.ended || c.save || b.repeats(c) {
			continue
		}
		if err := e.planCall(ctx, p, c, b); err != nil {
			return err
		}
		if len(c.planned) == 0 {
			continue
		}
		at := slices.Index(log.Projects, c.Project)
		if at < 0 {
			at = len(log.Projects)
			log.Projects = append(log.Projects, c.Project)
		}
		for i := range c.planned {
			c.planned[i].Request, c.planned[i].Project = n, at
		}
		log.Changes = append(log.Changes, c.planned...)
		b.addCall(p, c)
	}
	if len(log.Changes) == 0 {
		return nil
	}
	g.rows = true
	return b.addLog(p.id, p.seq+1, log)
}

// repeats reports whether the INSERT contains a name or key of the call already. Then the call waits for the next one.
func (b *planner) repeats(c *call) bool {
	var uses []use
	if c.Key != "" {
		uses = append(uses, use{c.Project, c.Key, true})
	}
	if c.Release != "" {
		uses = append(uses, use{c.Project, c.Release, false})
	}
	for _, claim := range c.Claims {
		uses = append(uses, use{c.Project, claim.Name, false})
	}
	for _, u := range uses {
		if b.used[u] {
			return true
		}
	}
	for _, u := range uses {
		b.used[u] = true
	}
	return false
}

// planCall plans a call, all of it or nothing. If it cannot be served, planCall records the refusal.
func (e *Engine) planCall(ctx context.Context, p *pool, c *call, b *planner) error {
	if len(c.Claims) == 0 {
		return e.planRelease(ctx, p, c, b)
	}
	for _, claim := range c.Claims {
		block, code, err := p.take(ctx, claim)
		if err != nil {
			return err
		}
		if code != "" {
			c.refusal = &Refusal{Code: code, Name: claim.Name, Counts: p.counts()}
			return c.undo(p)
		}
		c.planned = append(c.planned, change{Op: opClaim, Block: block, Name: claim.Name})
	}
	allowed, err := e.charge(ctx, b, c, int64(len(c.Claims)))
	if err == nil && !allowed {
		c.refusal = &Refusal{Code: OverQuota, Name: c.Claims[0].Name}
		return c.undo(p)
	}
	return err
}

// take takes the block of a claim from the tree. If there is none, it returns the reason.
func (p *pool) take(ctx context.Context, claim Claim) (block netip.Prefix, code Code, err error) {
	if !claim.Block.IsValid() {
		block, err = p.tree.takeFirst(ctx, p.tree.root, claim.Length)
		if !block.IsValid() {
			code = Full
		}
		return block, code, err
	}
	taken, err := p.tree.take(ctx, p.tree.root, claim.Block)
	if !taken {
		code = Taken
	}
	return claim.Block, code, err
}

// planRelease plans the end of a hold. If the hold may have ended since it was read, planRelease reads it again. The log row proves that the hold
// has not ended between this read and the INSERT.
func (e *Engine) planRelease(ctx context.Context, p *pool, c *call, b *planner) error {
	if p.freed.since(c.release.Block, c.tick) {
		var err error
		c.tick = e.tick.Load()
		c.release, err = e.find(ctx, c.Project, c.Release)
		if r, refused := errors.AsType[*Refusal](err); refused {
			c.refusal = r
			return nil
		}
		if err != nil {
			return err
		}
	}
	if c.release.Pool != p.id { // an earlier plan may have read it
		c.refusal = errMoved
		return nil
	}
	h := c.release
	if err := p.tree.give(ctx, p.tree.root, h.Block); err != nil {
		return err
	}
	c.planned = append(c.planned, change{Op: opRelease, Block: h.Block, Hold: h.Seq, Name: h.Name})
	_, err := e.charge(ctx, b, c, -1)
	return err
}

// errMoved reports that a name belongs to a hold in another pool by now. Submit repeats the release there.
var errMoved = errors.New("the name belongs to another pool")

// addCall adds the rows of a planned call.
func (b *planner) addCall(p *pool, c *call) {
	for i, ch := range c.planned {
		r := row{pool: p.id, kind: kindHold, block: appendBlock(nil, ch.Block), seq: p.seq + 1, project: c.Project}
		if ch.Op == opRelease {
			r.kind, r.seq = kindEnd, ch.Hold
		} else {
			r.name, r.body = ch.Name, c.Claims[i].Body
		}
		if i == 0 {
			r.key, r.digest = c.Key, c.Digest
		}
		b.add(r)
	}
}

// undo reverts the plan of a call in the tree.
func (c *call) undo(p *pool) error {
	for _, ch := range slices.Backward(c.planned) {
		if err := p.undo(ch); err != nil {
			return err
		}
	}
	c.planned = c.planned[:0]
	return nil
}

// undo reverts the plan of a group. If this fails, the pool is loaded again.
func (g *group) undo() {
	for _, c := range slices.Backward(g.calls) {
		if g.pool.tree == nil || c.ended {
			continue
		}
		if err := c.undo(g.pool); err != nil {
			g.pool.reset()
		}
	}
}

// commit makes the plan of a group final and finishes its calls. The log rows prove that refusals used the newest state of the pool, and of the quotas
// that have a log row.
func (e *Engine) commit(g *group, b *planner) {
	p := g.pool
	p.seq++
	for _, c := range g.calls {
		if c.ended {
			continue
		}
		for i, ch := range c.planned {
			h := c.release
			if ch.Op == opClaim {
				h = Hold{Pool: p.id, Block: ch.Block, Seq: p.seq, Name: ch.Name, Body: c.Claims[i].Body}
				e.recent.Add(use{project: c.Project, text: ch.Name}, recentHold{h, e.tick.Load()})
			} else {
				p.freed.note(ch.Block, e.tick.Add(1))
			}
			c.holds = append(c.holds, h)
		}
		p.unsaved += len(c.planned)
	}
	for _, c := range g.calls {
		switch {
		case c.ended:
		case len(c.planned) > 0:
			c.end(nil)
		case c.refusal != nil && c.Key == "" && b.proves(c):
			c.end(c.refusal)
		}
	}
}

// proves reports whether a log row of the plan proves the refusal of a call.
func (b *planner) proves(c *call) bool {
	m := b.meters[c.Quota]
	return m == nil || m.change != 0
}

// fail finishes the unfinished calls with an error.
func (g *group) fail(err error) {
	for _, c := range g.calls {
		if !c.ended {
			c.end(err)
		}
	}
}

func (g *group) done() bool {
	return !slices.ContainsFunc(g.calls, func(c *call) bool { return !c.ended })
}

// counts returns the number of free blocks by length.
func (p *pool) counts() map[int]int64 {
	out := map[int]int64{}
	for bits, n := range &p.tree.counts {
		if n != 0 {
			out[bits] = n
		}
	}
	return out
}
