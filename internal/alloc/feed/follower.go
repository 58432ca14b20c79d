package feed

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// takenBytes limits the bytes in the changes that Next returns in one call. Next never divides a row, even if the row is larger.
const takenBytes = 256 << 10

// Follower follows a project's changes. Only one goroutine may use it, and the caller must close it.
type Follower struct {
	hub    *hub
	filter Filter
	leave  func()

	position position // the follower's position
	joined   bool     // the follower reads the hub's parts; otherwise it reads the database in a pass of its own
	part     int      // number of the next part to read
	examined int      // how many matching changes in that part it has already examined
	idle     bool     // it has examined all available parts
	pass     int      // how many parts existed when its own pass began; -1: no own pass runs
	caught   int      // the first part that its own pass may not cover; -1: none
	fresh    bool     // the hub has ended a read that began after the call to Next; a call without a wait always needs a new read
	behind   bool     // it has read the hub's parts before, and then fell behind

	reserved func(bytes int) // reduces the memory reserved for the last call's changes to this many bytes; nil: none is reserved, the hub owns the changes

	wake    chan struct{} // has one element when the follower should check for changes
	pending int           // the first part that the hub has announced since the last check; -1: none; guarded by the hub's lock
}

// offer announces a part to the follower. The caller holds the hub's lock.
func (f *Follower) offer(number int) {
	if f.pending < 0 {
		f.pending = number
	}
	f.wakeUp()
}

func (f *Follower) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Cursor returns the cursor from which to resume.
func (f *Follower) Cursor() string { return f.hub.seal.seal(f.position) }

// CursorAfter returns the cursor from which to resume after c, a change that Next has returned. next is the change after c, or nil if c was the last.
func (f *Follower) CursorAfter(c, next *Change) string {
	if next != nil && next.row == c.row {
		return c.insideRow.cursorBy(f.hub.seal)
	}
	return c.afterRow.cursorBy(f.hub.seal)
}

// Close ends the follower.
func (f *Follower) Close() {
	f.Release()
	f.leave()
}

// Reserve reserves memory for a copy of the changes from the last call to Next. The next call or Close releases this memory.
func (f *Follower) Reserve(ctx context.Context, changes []*Change) error {
	if f.reserved != nil {
		return nil // Next has already reserved memory for these changes
	}
	var err error
	f.reserved, err = tenancy.BudgetOf(ctx).Reserve(ctx, SizeOf(changes))
	return err
}

// Release releases the memory for the changes that Next returned in its last call.
func (f *Follower) Release() {
	if f.reserved != nil {
		f.reserved(0)
		f.reserved = nil
	}
}

// CheckAccess checks again whether the caller in ctx has the permission to follow, and returns an error if the caller lacks it.
func (f *Follower) CheckAccess(ctx context.Context) error {
	pass, err := tenancy.Authorize(ctx, tenancy.ChangesRead, f.hub.in.Name)
	if err != nil {
		return err
	}
	return pass.CheckProject(f.hub.in)
}

// Next returns the next changes that the filter matches. It stops after limit changes or takenBytes, but always returns all changes from a row. It
// waits for a change, and returns no change when the wait or ctx ends. It always checks once, even without a wait.
//
// If the hub no longer has the changes, Next reads them from the database. It reserves memory for these changes from the budget in ctx, and releases
// the memory in the next call. If the follower falls behind a second time, Next returns an error.
func (f *Follower) Next(ctx context.Context, wait time.Duration, limit int) ([]*Change, error) {
	f.Release()
	f.fresh = f.fresh && wait > 0
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		found, err := f.step(ctx, limit)
		if err != nil || len(found) > 0 {
			return found, err
		}
		switch {
		case !f.idle:
			continue
		case !f.fresh:
			if err := f.await(ctx); err != nil {
				return nil, err
			}
			f.fresh = true
			continue
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-over.C:
			return nil, nil
		case <-f.wake:
		}
	}
}

// await waits for a read by the hub that begins after this call.
func (f *Follower) await(ctx context.Context) error {
	h := f.hub
	h.mu.Lock()
	until := h.looked + 1
	if h.looking {
		until++
	}
	h.mu.Unlock()
	for {
		h.mu.Lock()
		looked, over, err := h.looked, h.over, h.err
		h.mu.Unlock()
		if err != nil || looked >= until {
			return err
		}
		h.wake()
		select {
		case <-ctx.Done():
			return ipam.Errorf(ipam.CodeUnavailable, "The server cannot read the changes at the moment. Continue from the same cursor later.")
		case <-over:
		}
	}
}

// step returns the changes that are available now. If it returns no change and the follower is idle, the caller must wait for a wake-up.
func (f *Follower) step(ctx context.Context, limit int) ([]*Change, error) {
	if !f.joined && !f.join() {
		if f.behind {
			return nil, errSlow
		}
		return f.catchUp(ctx, limit)
	}
	h := f.hub
	h.mu.Lock()
	parts, first, end, err := h.parts, h.first, h.end, h.err
	if f.idle { // the hub announces each part that may have a match, so the follower skips the others
		f.part, f.examined = first+len(parts), 0
		if f.pending >= 0 {
			f.part = f.pending
		}
	}
	f.pending, f.idle = -1, false
	h.mu.Unlock()
	if f.part < first {
		f.joined, f.behind = false, true
		return nil, nil
	}
	for f.part-first < len(parts) {
		all := parts[f.part-first].changesFor(f.filter)
		taken, n := f.take(all[f.examined:], limit)
		if f.examined += n; f.examined == len(all) {
			f.part, f.examined = f.part+1, 0
		}
		if len(taken) > 0 {
			return taken, nil
		}
	}
	f.idle = true
	if storage.CommitBefore(f.position.From.Commit, end.Commit) {
		f.position = position{From: end}
	}
	return nil, err
}

// take returns changes that the filter matches and the follower does not have yet, up to a limit. examined is the number of changes that take has
// examined.
//
// take sets the follower's position to the position after the last change that it returns. A client that resumes from there may get some of the
// returned changes again.
func (f *Follower) take(changes []*Change, limit int) (taken []*Change, examined int) {
	var row ipam.ID
	has, bytes := f.position.has, 0
	for i, c := range changes {
		visible := f.filter.changeFor(c)
		if visible == nil || has(c) {
			continue
		}
		if (len(taken) >= limit || bytes >= takenBytes) && c.row != row {
			return taken, i
		}
		row, f.position, taken, bytes = c.row, c.afterRow.position, append(taken, visible), bytes+visible.Size()
	}
	return taken, len(changes)
}

// join lets the follower read the hub's parts, and reports whether that is possible. It starts with the first part that may have a change that the
// follower lacks. It skips a part that the hub read before the follower's position, because the follower has all changes in that part.
func (f *Follower) join() bool {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.caught >= h.first {
		f.part, f.joined = f.caught, true
		return true
	}
	if f.position.Next != nil || !storage.CommitBefore(h.lost, f.position.From.Commit) {
		return false
	}
	part := h.first
	for _, p := range h.parts {
		switch {
		case storage.CommitBefore(p.read, f.position.From.Commit):
			part++
		case !storage.CommitBefore(f.position.From.Commit, p.next.Commit): // else a client that resumes after this part would get the part again
			return false
		}
	}
	f.part, f.joined = part, true
	return true
}

// catchUp reads changes from the database that the hub no longer has. This is the follower's own pass. When the pass is complete, the follower has
// all changes that the hub had found before the pass began. From there, it can read the hub's parts.
func (f *Follower) catchUp(ctx context.Context, limit int) (taken []*Change, err error) {
	h := f.hub
	reserved, err := tenancy.BudgetOf(ctx).Reserve(ctx, takenBytes)
	if err != nil {
		return nil, err
	}
	defer func() {
		if f.reserved = reserved; len(taken) == 0 {
			f.Release()
		}
	}()
	leave, err := h.feed.Searching.Acquire(ctx, h.in.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	h.mu.Lock()
	found := h.first + len(h.parts)
	h.mu.Unlock()
	at := f.position
	page, err := h.feed.Store.FeedRead(ctx, h.in, at.From, at.After, maxRows)
	if err == nil {
		err = h.checkState(page.Now, at.From)
	}
	if err != nil {
		return nil, err
	}
	if at.Next == nil {
		at.Next, f.pass = &page.Now.FeedPosition, found
	}
	rows := leading(page.Rows)
	more := page.More || len(rows) < len(page.Rows)
	changes, err := gather(ctx, h.feed.Store, h.in, rows)
	if err != nil {
		return nil, err
	}
	setPositions(changes, at, more)
	size := SizeOf(changes)
	tenancy.BudgetOf(ctx).Add(tenancy.RowWork(len(changes), size))
	if size > takenBytes { // a row can have a thousand claims, and their text can have grown since
		reserved(0)
		if reserved, err = tenancy.BudgetOf(ctx).Reserve(ctx, size); err != nil {
			return nil, err
		}
	}
	taken, examined := f.take(changes, limit)
	reserved(max(takenBytes, SizeOf(taken)))
	done := examined == len(changes)
	switch {
	case done && !more:
		f.position, f.caught, f.pass = position{From: *at.Next}, f.pass, -1
	case done:
		f.position = position{From: at.From, Next: at.Next, After: lastEvent(rows)}
	}
	return taken, nil
}
