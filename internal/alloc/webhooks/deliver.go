package webhooks

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/webhook"
)

// givesUpAfter is for how long a delivery is tried.
const givesUpAfter = 24 * time.Hour

// pauses are those behind the first tries; behind all others it is the last of them.
var pauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}

// pause is how long to wait behind so many tries, a fifth more or less, or for as long as the receiver asks.
func pause(tries int, asked time.Duration) time.Duration {
	wait := pauses[min(tries, len(pauses))-1]
	wait += time.Duration((rand.Float64() - 0.5) / 2.5 * float64(wait)) //nolint:gosec // spreads load, guards nothing
	return max(wait, asked)
}

// errChanged says that a webhook is to send something else than it was, or nothing.
var errChanged = errors.New("the webhook was changed")

// deliver sends a delivery once. It writes a new delivery before it sends it, so that every repeat is the same, and the receiver knows a repeat by
// its id. It counts an attempt only when it knows the outcome: the end of this server is not the receiver's failure.
func (r *run) deliver(ctx context.Context, d ipam.Delivery, made bool) (more bool, err error) {
	w, err := r.own(ctx, r.in, "webhook_send", r.w, func(tx storage.Tx, w *ipam.Webhook, _ time.Time) (ch storage.WebhookChanges, err error) {
		if w.Revision != r.w.Revision || !w.Sends() {
			return ch, errChanged
		}
		if made {
			ch.DeliveryInsert = &d
			return ch, nil
		}
		found, err := still(ctx, tx, *w, &d)
		if err == nil && found == nil {
			err = errChanged
		}
		return ch, err
	})
	if errors.Is(err, errChanged) {
		r.leave() // it is further than the row
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.w = w
	outcome := r.client.Send(ctx, webhook.Delivery{URL: w.Spec.URL, ID: d.ID.String(), Secret: r.secret(w.UID), At: r.Now(), Body: d.Message})
	if ctx.Err() != nil { // it may have been we who broke it off
		return false, ctx.Err()
	}
	told := outcome.Reason
	if outcome.Delivered() {
		told = "delivered"
	}
	r.Metrics.WebhookTried(ctx, told)
	return r.settle(ctx, d, outcome)
}

// still is what is written of a delivery that is there; nil: somebody has dropped it.
func still(ctx context.Context, tx storage.Tx, w ipam.Webhook, d *ipam.Delivery) (*ipam.Delivery, error) {
	_, found, err := storage.IgnoreNotFound(tx.DeliveryGet(ctx, w, d.ID))
	if !found {
		return nil, err
	}
	return d, nil
}

// settle writes what came of a try. more is whether this server goes on at once.
func (r *run) settle(ctx context.Context, d ipam.Delivery, o webhook.Outcome) (more bool, err error) {
	d.Attempts++
	wait, gaveUp := pause(d.Attempts, o.RetryAfter), false
	w, err := r.own(ctx, r.in, "webhook_settle", r.w, func(tx storage.Tx, w *ipam.Webhook, at time.Time) (ch storage.WebhookChanges, err error) {
		now, err := still(ctx, tx, *w, new(d))
		if err != nil {
			return ch, err
		}
		if o.Delivered() {
			w.Progress.Failures, w.Progress.Error, w.Progress.DeliveredAt = 0, nil, at
			if ch.DeliveryDelete = now; d.DeadAt.IsZero() {
				w.Progress.Cursor = d.Cursor
			}
			return ch, nil
		}
		failed := &ipam.SendError{Reason: o.Reason, Status: o.Status, At: at}
		w.Progress.Error = failed
		if ch.DeliveryUpdate = now; now != nil {
			now.Error = failed
			err = r.failed(ctx, tx, w, now, at, wait)
			gaveUp = d.DeadAt.IsZero() && !now.DeadAt.IsZero()
		}
		if o.Gone && w.Generation == r.w.Generation { // else it may be sent elsewhere by now
			w.Stopped = ipam.StoppedGone
			park(w)
		}
		return ch, err
	})
	if err != nil {
		return false, err
	}
	if gaveUp {
		r.Metrics.WebhookGaveUp(ctx)
	}
	if r.w = w; w.Lease.IsZero() { // it is given back already
		err = errLost
	}
	return true, err
}

// failed says when a delivery is tried again, or gives it up.
func (r *run) failed(ctx context.Context, tx storage.Tx, w *ipam.Webhook, d *ipam.Delivery, at time.Time, wait time.Duration) error {
	if !d.DeadAt.IsZero() { // sent once more: it stays what it was
		d.Retry = false
		return nil
	}
	w.Progress.Failures++
	if at.Sub(d.BeganAt) < givesUpAfter {
		w.Lease, w.DueAt = ipam.ID{}, at.Add(wait)
		if w.Generation != r.w.Generation { // it is tried by what it is now
			w.DueAt = at
		}
		return nil
	}
	d.DeadAt, w.Progress.Cursor = at, d.Cursor
	dead, err := tx.DeliveryList(ctx, *w, ipam.ID{}, ipam.MaxDeadLetters)
	if len(dead) >= ipam.MaxDeadLetters-1 {
		w.Stopped = ipam.StoppedDeadLetters
		park(w)
	}
	return err
}
