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
	quietInterval     = 250 * time.Millisecond // pause between two reads if this process changes nothing
	minPause          = 20 * time.Millisecond  // shortest pause between two reads
	lookShare         = 10                     // shortest pause as a multiple of the last read's time: a hub uses at most a tenth of a connection
	eachPause         = 200 * time.Microsecond // extra pause for each follower with all names, because each needs a wake-up and a write
	maxPause          = 250 * time.Millisecond // limits the pause that minPause, lookShare and eachPause give
	retryPause        = time.Second            // pause after a failed read
	lingerFor         = 10 * time.Second       // how long a hub without followers waits for one to reconnect
	checkProjectEvery = 2 * time.Second        // how often a hub checks that its project exists
	maxRows           = 64                     // audit trail rows in one read; even with large groups of claims, they have at most some 3,000 events
	maxEvents         = 128                    // events whose objects the hub reads together; it does not divide a larger row
	keptChanges       = 4096                   // the hub keeps this many latest changes for followers that are slightly behind,
	keptBytes         = 8 << 20                // or fewer, if these exceed this size
)

// part contains the changes from one read. A pass from one position to the next consists of one part or several.
type part struct {
	next    storage.FeedPosition // the position after the pass
	read    string               // the commit position at the time of the read
	changes []*Change
	bytes   int // size of the changes
	named   map[string][]*Change
}

// changesFor returns the changes that a filter may match.
func (p part) changesFor(f Filter) []*Change {
	if f.Name != "" {
		return p.named[f.Name]
	}
	return p.changes
}

// newPart makes a part and its index by name.
func newPart(next storage.FeedPosition, read string, changes []*Change) part {
	p := part{next: next, read: read, changes: changes, named: make(map[string][]*Change, len(changes))}
	for _, c := range changes {
		p.bytes += c.Size()
		p.named[c.Name] = append(p.named[c.Name], c)
	}
	return p
}

// hub reads the changes in one project for all its followers in this process.
type hub struct {
	feed *Feed
	in   storage.ProjectKey
	kick chan struct{} // receives a value if the hub should read now

	mu        sync.Mutex
	parts     []part
	first     int    // the first part that the hub still has
	kept      int    // number of changes in parts
	bytes     int    // size of the changes in parts
	lost      string // the hub may no longer have changes committed before this position
	end       storage.FeedPosition
	afterEnd  int // the number of the first part after the end
	seal      *sealer
	secret    string
	looked    int           // number of completed reads
	looking   bool          // a read is running
	over      chan struct{} // closed when the next read ends
	err       error         // the reason why the hub has ended
	followers followers
	left      time.Time // when the last follower left, by the process's own clock
}

func newHub(f *Feed, in storage.ProjectKey, begin storage.FeedState) *hub {
	return &hub{
		feed: f, in: in, kick: make(chan struct{}, 1), lost: begin.Commit, end: begin.FeedPosition, seal: newSealer(begin.Secret, in.ID), secret: begin.Secret,
		over: make(chan struct{}), left: f.Ticks(), followers: followers{named: map[string]map[*Follower]bool{}},
	}
}

// wake makes the hub read now. It never blocks.
func (h *hub) wake() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// run reads changes until ctx ends, or until the hub has had no follower for lingerFor.
func (h *hub) run(ctx context.Context) {
	stop := h.feed.Notifier.Watch(h.in.ID, h.wake)
	defer stop()
	seen, checked := map[ipam.ID]bool{}, h.feed.Ticks()
	for {
		pause := quietInterval
		began := h.feed.Ticks()
		next, err := h.readChanges(ctx, seen)
		seen = next
		least := max(minPause, lookShare*h.feed.Ticks().Sub(began))
		if err == nil && h.feed.Ticks().Sub(checked) > checkProjectEvery {
			checked = h.feed.Ticks()
			err = h.checkProject(ctx)
		}
		switch {
		case ctx.Err() != nil:
			h.finish(errStopping)
			return
		case ipam.IsCode(err, ipam.CodeCursorExpired) || ipam.IsCode(err, ipam.CodeNotFound):
			h.finish(err)
			return
		case err != nil:
			pause = retryPause // followers wait until a read succeeds
		}
		if !h.sleep(ctx, least, pause) && h.feed.retire(h) {
			return
		}
	}
}

// sleep waits until the next read. It first waits for minWait, which a wake-up does not shorten. Then it waits for a wake-up, until at most maxWait
// has passed in total. It returns false if the hub has had no follower for lingerFor.
func (h *hub) sleep(ctx context.Context, minWait, maxWait time.Duration) bool {
	h.mu.Lock()
	minWait = min(maxPause, minWait+time.Duration(len(h.followers.named[""]))*eachPause)
	idle := h.followers.count == 0 && h.feed.Ticks().Sub(h.left) > lingerFor
	h.mu.Unlock()
	for _, pause := range []struct {
		lasts time.Duration
		wake  <-chan struct{}
	}{{minWait, nil}, {max(0, maxWait-minWait), h.kick}} {
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

// checkProject fails if the project has been deleted.
func (h *hub) checkProject(ctx context.Context) error {
	p, err := h.feed.Store.ProjectGet(ctx, h.in.Name)
	if err == nil && p.UID != h.in.ID {
		return tenancy.ProjectNotFound(h.in.Name)
	}
	return err
}

// readChanges reads the changes after the hub's end position, and publishes them in parts. It skips the rows in seen, which are the previous read's
// rows. It returns this read's rows.
func (h *hub) readChanges(ctx context.Context, seen map[ipam.ID]bool) (now map[ipam.ID]bool, err error) {
	h.mu.Lock()
	from := h.end
	h.looking = true
	h.mu.Unlock()
	now = map[ipam.ID]bool{}
	var next *storage.FeedPosition
	for after := (ipam.ID{}); ; {
		page, err := h.feed.Store.FeedRead(ctx, h.in, from, after, maxRows)
		if err == nil {
			err = h.checkState(page.Now, from)
		}
		if err != nil {
			return seen, err
		}
		if next == nil {
			next = &page.Now.FeedPosition
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
			setPositions(changes, position{From: from, Next: next, After: after}, more || page.More)
			h.publish(newPart(*next, page.Read, changes), !more && !page.More)
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

// leading returns the first rows. They have at most maxEvents events together, unless the first row alone has more. This limit keeps few objects in
// memory at once.
func leading(rows []storage.FeedRow) []storage.FeedRow {
	events := 0
	for i, row := range rows {
		if events += len(row.Events); i > 0 && events > maxEvents {
			return rows[:i]
		}
	}
	return rows
}

// setPositions sets the positions after each change in a part. start is the position where the part begins. If more is false, the part is the last
// one in its pass. The position after its last change is then the start of the next pass.
func setPositions(changes []*Change, start position, more bool) {
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].row == changes[0].row {
			n++
		}
		end := position{From: start.From, Next: start.Next, After: changes[0].row}
		if n == len(changes) && !more {
			end = position{From: *start.Next}
		}
		for _, c := range changes[:n] {
			c.insideRow.position, c.afterRow.position = start, end
		}
		changes[n-1].insideRow.position = end
		changes, start = changes[n:], end
	}
}

func lastEvent(rows []storage.FeedRow) ipam.ID {
	events := rows[len(rows)-1].Events
	return events[len(events)-1].ID
}

// checkState returns an error if the secret has changed because the database was restored or failed over. It also returns an error if the audit trail
// no longer has the events after the position.
func (h *hub) checkState(now storage.FeedState, from storage.FeedPosition) error {
	switch {
	case now.Secret != h.secret:
		return errOtherSecret
	case from.Since.Before(now.KeptFrom):
		return errExpired
	default:
		return nil
	}
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
		h.followers.publish(p, h.first+len(h.parts)-1)
	}
	if last {
		h.end, h.afterEnd, h.looking = p.next, h.first+len(h.parts), false
		h.looked++
		close(h.over)
		h.over = make(chan struct{})
	}
}

// finish ends the hub for all followers.
func (h *hub) finish(err error) {
	h.feed.drop(h)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
	h.followers.wakeAll()
	close(h.over)
	h.over = make(chan struct{})
}
