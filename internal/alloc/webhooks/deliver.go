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

// giveUpAfter is how long the server retries a delivery before it gives up.
const giveUpAfter = 24 * time.Hour

// pauses lists the waits after the first failed attempts. The last wait also applies after all further attempts.
var pauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}

// pause returns the wait after a number of attempts, with a random deviation of up to a fifth. If the receiver asks for a longer wait, pause returns
// that longer wait.
func pause(tries int, asked time.Duration) time.Duration {
	wait := pauses[min(tries, len(pauses))-1]
	wait += time.Duration((rand.Float64() - 0.5) / 2.5 * float64(wait)) //nolint:gosec // spreads load; not a secret
	return max(wait, asked)
}

// errChanged reports that a webhook must not send the current delivery any more.
var errChanged = errors.New("the webhook was changed")

// deliver sends a delivery once. If isNew is true, deliver first writes the delivery to the database. So every retry sends the same message with the
// same id, and the receiver can recognize a repeat. deliver counts an attempt only if it knows the outcome. If this server's shutdown interrupts a
// request, this does not count as the receiver's failure.
func (r *run) deliver(ctx context.Context, d ipam.Delivery, isNew bool) (more bool, err error) {
	w, err := r.changeOwned(ctx, r.in, "webhook_send", r.w, func(tx storage.Tx, w *ipam.Webhook, _ time.Time) (ch storage.WebhookChanges, err error) {
		if w.Revision != r.w.Revision || !w.Sends() {
			return ch, errChanged
		}
		if isNew {
			ch.DeliveryInsert = &d
			return ch, nil
		}
		found, err := ifExists(ctx, tx, *w, &d)
		if err == nil && found == nil {
			err = errChanged
		}
		return ch, err
	})
	if errors.Is(err, errChanged) {
		r.leave() // the follower has already passed the changes in this delivery
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.w = w
	outcome := r.client.Send(ctx, webhook.Delivery{URL: w.Spec.URL, ID: d.ID.String(), Secret: r.secret(w.UID), At: r.Now(), Body: d.Message})
	if ctx.Err() != nil { // this server may have interrupted the request
		return false, ctx.Err()
	}
	result := outcome.Reason
	if outcome.Delivered() {
		result = "delivered"
	}
	r.Metrics.WebhookTried(ctx, result)
	return r.settle(ctx, d, outcome)
}

// ifExists returns the delivery if its row exists. It returns nil if a user has deleted the delivery.
func ifExists(ctx context.Context, tx storage.Tx, w ipam.Webhook, d *ipam.Delivery) (*ipam.Delivery, error) {
	_, found, err := storage.IgnoreNotFound(tx.DeliveryGet(ctx, w, d.ID))
	if !found {
		return nil, err
	}
	return d, nil
}

// settle writes an attempt's outcome. more reports whether this server continues with the webhook now.
func (r *run) settle(ctx context.Context, d ipam.Delivery, o webhook.Outcome) (more bool, err error) {
	d.Attempts++
	wait, gaveUp := pause(d.Attempts, o.RetryAfter), false
	w, err := r.changeOwned(ctx, r.in, "webhook_settle", r.w, func(tx storage.Tx, w *ipam.Webhook, at time.Time) (ch storage.WebhookChanges, err error) {
		now, err := ifExists(ctx, tx, *w, new(d))
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
			err = r.recordFailure(ctx, tx, w, now, at, wait)
			gaveUp = d.DeadAt.IsZero() && !now.DeadAt.IsZero()
		}
		if o.Gone && w.Generation == r.w.Generation { // otherwise the spec has changed, perhaps its URL
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
	if r.w = w; w.Lease.IsZero() { // the row no longer has this server's lease
		err = errLost
	}
	return true, err
}

// recordFailure schedules the next attempt for a delivery, or gives the delivery up.
func (r *run) recordFailure(ctx context.Context, tx storage.Tx, w *ipam.Webhook, d *ipam.Delivery, at time.Time, wait time.Duration) error {
	if !d.DeadAt.IsZero() { // a user asked for one more attempt, although the delivery was given up before; it stays given up
		d.Retry = false
		return nil
	}
	w.Progress.Failures++
	if at.Sub(d.BeganAt) < giveUpAfter {
		w.Lease, w.DueAt = ipam.ID{}, at.Add(wait)
		if w.Generation != r.w.Generation { // the spec has changed meanwhile, so try again at once
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
