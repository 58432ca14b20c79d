package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

const (
	looksEvery = 10 * time.Second // at the row, when nothing changes
	savesEvery = 10 * time.Minute // how far a webhook is to which nothing was sent: what is kept of the trail goes on
	aboutSize  = 100              // changes of a message; those of one record of the trail come together
	mostBytes  = 256 << 10        // of a message, but for one record
	comesBack  = 5 * time.Second  // after a failure of our own
	endsWithin = 3 * time.Second
)

// run is one server's time with a webhook: it follows what changes, and sends that.
type run struct {
	*Webhooks
	in storage.ProjectKey
	w  ipam.Webhook // as it was read or written last

	follower   *feed.Follower // nil: none
	cursor     string         // what it has is behind this, and nothing of it was answered
	generation int64          // of the spec that it filters by
	saved      time.Time
}

// run sends until the webhook is paused, stopped, lost or to be tried later, or others wait for their turn.
func (s *Webhooks) run(ctx context.Context, in storage.ProjectKey, w ipam.Webhook) {
	r := &run{Webhooks: s, in: in, w: w, saved: s.Ticks()}
	defer r.leave()
	var err error
	for more := true; more && err == nil; {
		if ctx.Err() != nil || s.givesWay() {
			break
		}
		more, err = r.step(ctx)
	}
	if errors.Is(err, errLost) {
		return
	}
	unserved := err != nil && ctx.Err() == nil
	if unserved {
		s.mu.Lock()
		s.failed = err
		s.mu.Unlock()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endsWithin)
	defer cancel()
	_, _ = s.own(last, in, "webhook_give_back", r.w, func(_ storage.Tx, w *ipam.Webhook, at time.Time) (storage.WebhookChanges, error) {
		w.Lease, w.DueAt = ipam.ID{}, at
		if unserved {
			w.DueAt, w.Progress.Error = at.Add(comesBack), &ipam.SendError{Reason: ipam.ReasonUnserved, At: at}
		}
		return storage.WebhookChanges{}, nil
	}) // or the lease ends by itself
}

func (s *Webhooks) givesWay() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crowded
}

func (r *run) leave() {
	if r.follower != nil {
		r.follower.Close()
		r.follower = nil
	}
}

// step sends what is to be sent, or waits for something. more is whether this server still has the webhook.
func (r *run) step(ctx context.Context) (more bool, err error) {
	w, found, err := storage.IgnoreNotFound(r.Store.WebhookGet(ctx, r.in, r.w.Name))
	if err != nil {
		return false, err
	}
	if !found || w.UID != r.w.UID || w.Lease != r.server {
		return false, errLost
	}
	r.w = w
	if !w.Sends() {
		r.w, err = r.own(ctx, r.in, "webhook_park", w, func(_ storage.Tx, now *ipam.Webhook, _ time.Time) (storage.WebhookChanges, error) {
			if !now.Sends() {
				park(now)
			}
			return storage.WebhookChanges{}, nil
		})
		if err == nil && r.w.Lease.IsZero() {
			err = errLost
		}
		return true, err
	}
	d, found, err := r.Store.DeliveryNext(ctx, w)
	if err != nil {
		return false, err
	}
	made := !found
	if made {
		if d, found, err = r.next(ctx); err != nil || !found {
			return err == nil, err
		}
	}
	return r.deliver(ctx, d, made)
}

// next makes a delivery of what has changed, if something has within some seconds.
func (r *run) next(ctx context.Context) (d ipam.Delivery, found bool, err error) {
	m := Message{Webhook: r.w.Name, Project: r.in.Name}
	if err = r.follow(ctx, r.w.Progress.Cursor); err == nil {
		m.Changes, err = r.follower.Next(ctx, looksEvery, aboutSize)
	}
	switch {
	case ipam.IsCode(err, ipam.CodeCursorExpired):
		if err := r.follow(ctx, ""); err != nil {
			return d, false, err
		}
		m.Resync, m.Cursor = true, r.cursor
	case err != nil || ctx.Err() != nil:
		return d, false, err
	case r.w.Unserved():
		return d, false, r.served(ctx)
	case len(m.Changes) == 0:
		return d, false, r.save(ctx)
	}
	body, err := r.body(&m)
	if err != nil {
		return d, false, err
	}
	at := r.Now()
	return ipam.Delivery{
		ID: ipam.NewTimeID(at), Region: r.w.Region, ProjectID: r.in.ID, WebhookID: r.w.UID, Cursor: m.Cursor, Message: body, BeganAt: at,
	}, true, nil
}

// served withdraws the report that the server could not serve the webhook. The next step reads the changes again.
func (r *run) served(ctx context.Context) error {
	r.leave()
	w, err := r.own(ctx, r.in, "webhook_served", r.w, func(_ storage.Tx, w *ipam.Webhook, _ time.Time) (storage.WebhookChanges, error) {
		if w.Unserved() {
			w.Progress.Error = nil
		}
		return storage.WebhookChanges{}, nil
	})
	if err == nil {
		r.w = w
	}
	return err
}

// follow sees to it that the follower is behind a cursor, or begins now ("").
func (r *run) follow(ctx context.Context, cursor string) error {
	if r.follower != nil && cursor != "" && r.cursor == cursor && r.generation == r.w.Generation {
		return nil
	}
	r.leave()
	spec := r.w.Spec
	f, err := r.feed.FollowSelf(ctx, r.in, cursor, feed.Filter{Kinds: spec.Kinds, Name: spec.Name, Labels: spec.Labels})
	if err != nil {
		return err
	}
	r.follower, r.cursor, r.generation = f, cursor, r.w.Generation
	if cursor == "" {
		r.cursor = f.Cursor()
	}
	return nil
}

// body is what is sent of a message: of its changes as many as are not too large together, but those of one record of the trail are not divided.
func (r *run) body(m *Message) ([]byte, error) {
	all := m.Changes
	for n := len(all); ; {
		if !m.Resync {
			var behind *feed.Change
			if n < len(all) {
				behind = all[n]
			}
			m.Changes, m.Cursor = all[:n], r.follower.CursorAfter(all[n-1], behind)
		}
		body, err := r.o.Body(*m)
		fewer := n
		if err == nil && len(body) > mostBytes {
			fewer = cut(all[:n], len(body))
		}
		if fewer == n {
			r.cursor = m.Cursor
			if n < len(all) {
				r.leave() // it is further
			}
			return body, err
		}
		n = fewer
	}
}

// cut is how many changes may not be too large together, by the size that all have: those of whole records, and of one at least.
func cut(all []*feed.Change, size int) int {
	n := len(all) * mostBytes / size
	for n > 0 && all[n-1].WithNext(all[n]) {
		n--
	}
	if n > 0 {
		return n
	}
	for n = 1; n < len(all) && all[n-1].WithNext(all[n]); {
		n++
	}
	return n
}

// save keeps how far a webhook is for which nothing has changed.
func (r *run) save(ctx context.Context) error {
	if r.Ticks().Sub(r.saved) < savesEvery {
		return nil
	}
	cursor := r.follower.Cursor()
	w, err := r.own(ctx, r.in, "webhook_save", r.w, func(_ storage.Tx, w *ipam.Webhook, _ time.Time) (ch storage.WebhookChanges, err error) {
		if w.Generation != r.generation {
			return ch, errChanged
		}
		w.Progress.Cursor = cursor
		return ch, nil
	})
	if errors.Is(err, errChanged) {
		return nil // what it has passed over may match now
	}
	if err == nil {
		r.w, r.cursor, r.saved = w, cursor, r.Ticks()
	}
	return err
}
