package feed

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

const (
	quietEvery    = 250 * time.Millisecond // how often a hub looks when this process has changed nothing
	leastPause    = 20 * time.Millisecond  // between two looks,
	lookShare     = 10                     // so many times as long as a look takes: followers take a tenth of a connection,
	eachPause     = 200 * time.Microsecond // and for each follower of more than one name, who is woken and written to,
	mostPause     = 250 * time.Millisecond // but no longer
	troubled      = time.Second            // after a look that failed
	lingers       = 10 * time.Second       // for a follower to come back
	thereEvery    = 2 * time.Second        // how often a hub looks whether its project is there
	rowsAtOnce    = 64                     // of the trail: some 3,000 events of groups at most,
	objectsAtOnce = 128                    // events whose objects a hub reads at once; a row with more comes whole
	keptChanges   = 4096                   // of the latest, for those who are a little behind,
	keptBytes     = 8 << 20                // or fewer, when they have more bytes than this
)

// part is what one read has found; several make a pass from one place to the next.
type part struct {
	next    storage.Place // the end of its pass
	read    string        // the commit of when it was read
	changes []*Change
	bytes   int // of the changes
	named   map[string][]*Change
}

// of is the changes that a filter may match.
func (p part) of(f Filter) []*Change {
	if f.Name != "" {
		return p.named[f.Name]
	}
	return p.changes
}

// parted makes a part, which is looked up by name.
func parted(next storage.Place, read string, changes []*Change) part {
	p := part{next: next, read: read, changes: changes, named: make(map[string][]*Change, len(changes))}
	for _, c := range changes {
		p.bytes += c.Size()
		p.named[c.Name] = append(p.named[c.Name], c)
	}
	return p
}

// hub reads what changes in one project, for all who follow it in this process.
type hub struct {
	feed *Feed
	in   storage.ProjectKey
	kick chan struct{} // look at once

	mu        sync.Mutex
	parts     []part
	first     int    // the number of the first part that is kept
	kept      int    // changes in parts
	bytes     int    // of the changes in parts
	lost      string // the commit where the first part begins that is kept, or later
	end       storage.Place
	afterEnd  int // the number of the first part behind the end
	seal      *sealer
	secret    string
	looked    int           // how often
	looking   bool          // it has begun to
	over      chan struct{} // closed with the next look
	err       error         // why it has ended
	followers followers
	left      time.Time // when the last follower left, by the process's own clock
}

func newHub(f *Feed, in storage.ProjectKey, begin storage.Mark) *hub {
	return &hub{
		feed: f, in: in, kick: make(chan struct{}, 1), lost: begin.Commit, end: begin.Place, seal: newSealer(begin.Secret, in.ID), secret: begin.Secret,
		over: make(chan struct{}), left: f.Ticks(), followers: followers{named: map[string]map[*Follower]bool{}},
	}
}

// wake has the hub look at once. It blocks nobody.
func (h *hub) wake() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// run looks until nobody follows any more, or ctx ends.
func (h *hub) run(ctx context.Context) {
	stop := h.feed.Wakes.Watch(h.in.ID, h.wake)
	defer stop()
	seen, checked := map[ipam.ID]bool{}, h.feed.Ticks()
	for {
		pause := quietEvery
		began := h.feed.Ticks()
		next, err := h.look(ctx, seen)
		seen = next
		least := max(leastPause, lookShare*h.feed.Ticks().Sub(began))
		if err == nil && h.feed.Ticks().Sub(checked) > thereEvery {
			checked = h.feed.Ticks()
			err = h.there(ctx)
		}
		switch {
		case ctx.Err() != nil:
			h.finish(errStopping)
			return
		case ipam.IsCode(err, ipam.CodeCursorExpired) || ipam.IsCode(err, ipam.CodeNotFound):
			h.finish(err)
			return
		case err != nil:
			pause = troubled // followers wait
		}
		if !h.sleep(ctx, least, pause) && h.feed.retire(h) {
			return
		}
	}
}

// sleep waits until it is time for another look: for the least time, and longer while nothing wakes it. It answers false when nobody follows for long.
func (h *hub) sleep(ctx context.Context, least, quiet time.Duration) bool {
	h.mu.Lock()
	least = min(mostPause, least+time.Duration(len(h.followers.named[""]))*eachPause)
	idle := h.followers.count == 0 && h.feed.Ticks().Sub(h.left) > lingers
	h.mu.Unlock()
	for _, pause := range []struct {
		lasts time.Duration
		wake  <-chan struct{}
	}{{least, nil}, {max(0, quiet-least), h.kick}} {
		over := time.NewTimer(pause.lasts)
		select {
		case <-ctx.Done():
		case <-over.C:
		case <-pause.wake:
		}
		over.Stop()
	}
	return !idle
}

// there fails when the project has gone.
func (h *hub) there(ctx context.Context) error {
	p, err := h.feed.Store.ProjectGet(ctx, h.in.Name)
	if err == nil && p.UID != h.in.ID {
		return tenancy.ProjectNotFound(h.in.Name)
	}
	return err
}

// look reads what is behind the end, part by part, but for the rows that were seen the last time. It answers those that it has seen itself.
func (h *hub) look(ctx context.Context, seen map[ipam.ID]bool) (now map[ipam.ID]bool, err error) {
	h.mu.Lock()
	from := h.end
	h.looking = true
	h.mu.Unlock()
	now = map[ipam.ID]bool{}
	var next *storage.Place
	for after := (ipam.ID{}); ; {
		page, err := h.feed.Store.FeedRead(ctx, h.in, from, after, rowsAtOnce)
		if err == nil {
			err = h.fits(page.Now, from)
		}
		if err != nil {
			return seen, err
		}
		if next == nil {
			next = &page.Now.Place
		}
		var fresh []storage.FeedRow
		for _, row := range page.Rows {
			if !seen[row.ID] && !now[row.ID] {
				fresh = append(fresh, row)
			}
			now[row.ID] = true
		}
		for more := true; more; {
			few := leading(fresh)
			rest := fresh[len(few):]
			changes, err := gather(ctx, h.feed.Store, h.in, few)
			if err != nil {
				return seen, err
			}
			more = len(rest) > 0
			tell(changes, position{From: from, Next: next, After: after}, more || page.More)
			h.publish(parted(*next, page.Read, changes), !more && !page.More)
			if fresh = rest; len(few) > 0 {
				after = lastEvent(few)
			}
		}
		if !page.More {
			return now, nil
		}
		after = lastEvent(page.Rows)
	}
}

// leading returns the first rows that have objectsAtOnce events together, and one row at least. So a hub has few objects in memory at once.
func leading(rows []storage.FeedRow) []storage.FeedRow {
	events := 0
	for i, row := range rows {
		if events += len(row.Events); i > 0 && events > objectsAtOnce {
			return rows[:i]
		}
	}
	return rows
}

// tell tells the changes of a part, which begins at a position, from where to go on behind them: behind the last of a pass from the next place.
func tell(changes []*Change, at position, more bool) {
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].row == changes[0].row {
			n++
		}
		end := position{From: at.From, Next: at.Next, After: changes[0].row}
		if n == len(changes) && !more {
			end = position{From: *at.Next}
		}
		for _, c := range changes[:n] {
			c.behind.position, c.ends.position = at, end
		}
		changes[n-1].behind.position = end
		changes, at = changes[n:], end
	}
}

func lastEvent(rows []storage.FeedRow) ipam.ID {
	events := rows[len(rows)-1].Events
	return events[len(events)-1].ID
}

// fits refuses to go on on another database than the one that the cursors are of, or where the trail was cut.
func (h *hub) fits(now storage.Mark, from storage.Place) error {
	if now.Secret != h.secret || from.Since.Before(now.KeptFrom) {
		return errExpired
	}
	return nil
}

func (h *hub) publish(p part, last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(p.changes) > 0 {
		h.parts, h.kept, h.bytes = append(h.parts, p), h.kept+len(p.changes), h.bytes+p.bytes
		for (h.kept > keptChanges || h.bytes > keptBytes) && len(h.parts) > 1 {
			h.kept, h.bytes, h.lost = h.kept-len(h.parts[0].changes), h.bytes-h.parts[0].bytes, h.parts[0].read
			h.parts[0] = part{}
			h.parts, h.first = h.parts[1:], h.first+1
		}
		h.followers.tell(p, h.first+len(h.parts)-1)
	}
	if last {
		h.end, h.afterEnd, h.looking = p.next, h.first+len(h.parts), false
		h.looked++
		close(h.over)
		h.over = make(chan struct{})
	}
}

// finish ends the hub for all who follow.
func (h *hub) finish(err error) {
	h.feed.drop(h)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
	h.followers.wakeAll()
	close(h.over)
	h.over = make(chan struct{})
}
