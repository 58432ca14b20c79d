package feed

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// takenBytes bounds the changes that one call of Next returns. A row with more comes whole.
const takenBytes = 256 << 10

// Follower follows the changes of a project. It is for one goroutine, and must be closed.
type Follower struct {
	hub    *hub
	filter Filter
	leave  func()

	at     position // what it has
	joined bool     // to the parts of the hub
	part   int      // the number of the next one
	gone   int      // through so many of what its filter may match of that
	idle   bool     // it has gone through all parts that there were
	pass   int      // how many parts there were when a pass of its own began; -1: it has not begun one
	caught int      // the number of the first part that a pass of its own may not have; -1: there was none
	fresh  bool     // a look that began after it came has ended; who does not wait wants another one each time
	behind bool     // it has been with the hub, and fell behind

	reserved func(bytes int) // gives memory back that the changes of the last call take, all but so many bytes; nil: they are the hub's

	wake    chan struct{} // holds one when there may be something new
	pending int           // the number of the first part that it was told of, under the hub's lock; -1: none
}

// tell has it look at a part. Its hub is locked.
func (f *Follower) tell(number int) {
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

// Cursor is where to go on.
func (f *Follower) Cursor() string { return f.hub.seal.seal(f.at) }

// CursorAfter is where to go on behind a change that Next has answered, and before the next one that it has (nil: it was the last).
func (f *Follower) CursorAfter(c, next *Change) string {
	if next != nil && next.row == c.row {
		return c.behind.cursorBy(f.hub.seal)
	}
	return c.ends.cursorBy(f.hub.seal)
}

// Close ends it.
func (f *Follower) Close() {
	f.release()
	f.leave()
}

// Reserve reserves memory for a copy of the changes that the last call of Next returned, until the next call or Close.
func (f *Follower) Reserve(ctx context.Context, changes []*Change) error {
	if f.reserved != nil {
		return nil // Next has reserved memory for changes that are nobody else's
	}
	bytes := 0
	for _, c := range changes {
		bytes += c.Size()
	}
	var err error
	f.reserved, err = tenancy.BudgetOf(ctx).Reserve(ctx, bytes)
	return err
}

// release gives back the memory of the changes that the last call of Next returned.
func (f *Follower) release() {
	if f.reserved != nil {
		f.reserved(0)
		f.reserved = nil
	}
}

// May asks again whether the caller of ctx may follow.
func (f *Follower) May(ctx context.Context) error {
	pass, err := tenancy.Authorize(ctx, tenancy.ChangesRead, f.hub.in.Name)
	if err != nil {
		return err
	}
	return pass.Into(f.hub.in)
}

// Next returns the next changes that the filter matches: no more than limit, and no more than takenBytes, but the changes of one row always come
// together. It waits for a change, and returns none when the time or ctx is over; but it always looks once. Changes that the hub does not keep any more
// it reads from the database, and it reserves memory for them from the budget of ctx until the next call; a follower that falls behind a second
// time gets an error.
func (f *Follower) Next(ctx context.Context, wait time.Duration, limit int) ([]*Change, error) {
	f.release()
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

// await waits for a look of the hub that began after now.
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
			return ipam.Errorf(ipam.CodeUnavailable, "The changes cannot be read at the moment. Go on from the same cursor later.")
		case <-over:
		}
	}
}

// step answers what there is now. When it answers nothing and is idle it is to be woken.
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
	if f.idle { // only what it was told of concerns it
		f.part, f.gone = first+len(parts), 0
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
		all := parts[f.part-first].of(f.filter)
		taken, n := f.take(all[f.gone:], limit)
		if f.gone += n; f.gone == len(all) {
			f.part, f.gone = f.part+1, 0
		}
		if len(taken) > 0 {
			return taken, nil
		}
	}
	f.idle = true
	if storage.CommitBefore(f.at.From.Commit, end.Commit) {
		f.at = position{From: end}
	}
	return nil, err
}

// take answers the changes that it does not have and that its filter matches, up to a limit, and how many it has gone through. What it has taken is not
// always what it has by its position: of what was committed behind that, it may be told again.
func (f *Follower) take(changes []*Change, limit int) (taken []*Change, gone int) {
	var row ipam.ID
	has, bytes := f.at.has, 0
	for i, c := range changes {
		told := f.filter.of(c)
		if told == nil || has(c) {
			continue
		}
		if (len(taken) >= limit || bytes >= takenBytes) && c.row != row {
			return taken, i
		}
		row, f.at, taken, bytes = c.row, c.ends.position, append(taken, told), bytes+told.Size()
	}
	return taken, len(changes)
}

// join finds the first part of the hub that may hold something which it does not have. A part whose place is before its own was read earlier.
func (f *Follower) join() bool {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.caught >= h.first {
		f.part, f.joined = f.caught, true
		return true
	}
	if f.at.Next != nil || !storage.CommitBefore(h.lost, f.at.From.Commit) {
		return false
	}
	part := h.first
	for _, p := range h.parts {
		switch {
		case storage.CommitBefore(p.read, f.at.From.Commit):
			part++
		case !storage.CommitBefore(f.at.From.Commit, p.next.Commit): // its cursors lead no further than it is, so that it would be told the part again and again
			return false
		}
	}
	f.part, f.joined = part, true
	return true
}

// catchUp reads the database for what the hub does not keep any more. When a pass of its own is done it has what the hub had found before that began.
func (f *Follower) catchUp(ctx context.Context, limit int) (taken []*Change, err error) {
	h := f.hub
	reserved, err := tenancy.BudgetOf(ctx).Reserve(ctx, takenBytes)
	if err != nil {
		return nil, err
	}
	defer func() {
		if f.reserved = reserved; len(taken) == 0 {
			f.release()
		}
	}()
	leave, err := h.feed.Searching.Enter(ctx, h.in.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	h.mu.Lock()
	found := h.first + len(h.parts)
	h.mu.Unlock()
	at := f.at
	page, err := h.feed.Store.FeedRead(ctx, h.in, at.From, at.After, rowsAtOnce)
	if err == nil {
		err = h.fits(page.Now, at.From)
	}
	if err != nil {
		return nil, err
	}
	if at.Next == nil {
		at.Next, f.pass = &page.Now.Place, found
	}
	rows := leading(page.Rows)
	more := page.More || len(rows) < len(page.Rows)
	changes, err := gather(ctx, h.feed.Store, h.in, rows)
	if err != nil {
		return nil, err
	}
	tell(changes, at, more)
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(changes)})
	taken, gone := f.take(changes, limit)
	done := gone == len(changes)
	switch {
	case done && !more:
		f.at, f.caught, f.pass = position{From: *at.Next}, f.pass, -1
	case done:
		f.at = position{From: at.From, Next: at.Next, After: lastEvent(rows)}
	}
	return taken, nil
}
