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
	pollEvery    = 10 * time.Second // how often a run reads the webhook's row if nothing changes
	saveEvery    = 10 * time.Minute // how often a run saves the cursor for a webhook without deliveries; an old cursor expires with the audit trail
	targetSize   = 100              // desired number of changes in a message; the changes from one audit record stay together
	maxBytes     = 256 << 10        // maximum size of a message; a message with a single audit record may be larger
	retriesAfter = 5 * time.Second  // wait after a failure in this server
	endsWithin   = 3 * time.Second
)

// run is one server's work on a webhook. It follows the changes in the project and sends them.
type run struct {
	*Webhooks
	in storage.ProjectKey
	w  ipam.Webhook // as this server last read or wrote it

	follower   *feed.Follower // nil: none
	cursor     string         // the position after the last delivered change; the follower may have read further
	generation int64          // the generation of the spec that the follower filters by
	saved      time.Time
}

// run sends deliveries until one of these cases occurs:
//
//   - the webhook is paused or stopped
//   - another server takes the webhook
//   - the webhook waits for a retry
//   - other webhooks wait because this server has no run left
func (s *Webhooks) run(ctx context.Context, in storage.ProjectKey, w ipam.Webhook) {
	r := &run{Webhooks: s, in: in, w: w, saved: s.Ticks()}
	defer r.leave()
	var err error
	for more := true; more && err == nil; {
		if ctx.Err() != nil || s.yields() {
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
	_, _ = s.changeOwned(last, in, "webhook_give_back", r.w, func(_ storage.Tx, w *ipam.Webhook, at time.Time) (storage.WebhookChanges, error) {
		w.Lease, w.DueAt = ipam.ID{}, at
		if unserved {
			w.DueAt, w.Progress.Error = at.Add(retriesAfter), &ipam.SendError{Reason: ipam.ReasonUnserved, At: at}
		}
		return storage.WebhookChanges{}, nil
	}) // if this fails, the lease expires
}

func (s *Webhooks) yields() bool {
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

// step sends the next delivery, or waits for a change. more reports whether this server still has the webhook.
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
		r.w, err = r.changeOwned(ctx, r.in, "webhook_park", w, func(_ storage.Tx, now *ipam.Webhook, _ time.Time) (storage.WebhookChanges, error) {
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

// next waits up to pollEvery for changes, and makes a delivery from them.
func (r *run) next(ctx context.Context) (d ipam.Delivery, found bool, err error) {
	m := Message{Webhook: r.w.Name, Project: r.in.Name}
	if err = r.follow(ctx, r.w.Progress.Cursor); err == nil {
		m.Changes, err = r.follower.Next(ctx, pollEvery, targetSize)
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
		return d, false, r.clearUnserved(ctx)
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

// clearUnserved clears the error for the case that the server could not serve the webhook. The next step reads the changes again.
func (r *run) clearUnserved(ctx context.Context) error {
	r.leave()
	w, err := r.changeOwned(ctx, r.in, "webhook_served", r.w, func(_ storage.Tx, w *ipam.Webhook, _ time.Time) (storage.WebhookChanges, error) {
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

// follow makes sure that the follower is at a cursor. If the cursor is "", follow starts a follower from now.
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

// body encodes a message. It includes as many changes as the size limit allows, and keeps the changes from one audit record together.
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
		body, err := r.options.Body(*m)
		fewer := n
		if err == nil && len(body) > maxBytes {
			fewer = cut(all[:n], len(body))
		}
		if fewer == n {
			r.cursor = m.Cursor
			if n < len(all) {
				r.leave() // the follower is past the message
			}
			return body, err
		}
		n = fewer
	}
}

// cut estimates from the total size how many changes fit into maxBytes. It keeps the changes from one audit record together, and returns at least one
// record.
func cut(all []*feed.Change, size int) int {
	n := len(all) * maxBytes / size
	for n > 0 && all[n-1].SameRow(all[n]) {
		n--
	}
	if n > 0 {
		return n
	}
	for n = 1; n < len(all) && all[n-1].SameRow(all[n]); {
		n++
	}
	return n
}

// save saves the cursor for a webhook without deliveries.
func (r *run) save(ctx context.Context) error {
	if r.Ticks().Sub(r.saved) < saveEvery {
		return nil
	}
	cursor := r.follower.Cursor()
	w, err := r.changeOwned(ctx, r.in, "webhook_save", r.w, func(_ storage.Tx, w *ipam.Webhook, _ time.Time) (ch storage.WebhookChanges, err error) {
		if w.Generation != r.generation {
			return ch, errChanged
		}
		w.Progress.Cursor = cursor
		return ch, nil
	})
	if errors.Is(err, errChanged) {
		return nil // the spec has changed, so changes that the old filter skipped may match now
	}
	if err == nil {
		r.w, r.cursor, r.saved = w, cursor, r.Ticks()
	}
	return err
}
