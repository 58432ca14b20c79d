package webhooks

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// DeadLettersKept is how long the server keeps an undeliverable message.
const DeadLettersKept = 30 * 24 * time.Hour

// maxDeliveryPage limits the deliveries on one page, because each includes its message.
const maxDeliveryPage = 10

// ListDeliveries lists a webhook's deliveries that the server has given up, the oldest first.
func (s *Webhooks) ListDeliveries(ctx context.Context, project, name string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Delivery], error) {
	none := paging.Page[ipam.Delivery]{}
	_, in, err := s.Enter(ctx, tenancy.DeliveriesRead, project)
	if err != nil {
		return none, err
	}
	read := s.View(r)
	w, err := read.WebhookGet(ctx, in, name)
	if err != nil {
		return none, err
	}
	return paging.Scan(ctx, s.Searching, paging.ListOf("deliveries", w.UID), cursor, min(limit, maxDeliveryPage), func(after ipam.ID, n int) ([]ipam.Delivery, error) {
		return read.DeliveryList(ctx, w, after, n)
	}, usecase.Everything[ipam.Delivery], func(d ipam.Delivery) ipam.ID { return d.ID })
}

// DeleteDelivery deletes a delivery that the server has given up. If the webhook is stopped because it had too many such deliveries, DeleteDelivery
// resumes it.
func (s *Webhooks) DeleteDelivery(ctx context.Context, project, name string, id ipam.ID, r usecase.Request) error {
	_, err := s.changeDelivery(ctx, project, name, id, r, func(ch *storage.Changes, d *ipam.Delivery) { ch.DeliveryDelete = d })
	return err
}

// RetryDelivery schedules one more attempt for a delivery that the server has given up.
func (s *Webhooks) RetryDelivery(ctx context.Context, project, name string, id ipam.ID, r usecase.Request) (ipam.Delivery, error) {
	return s.changeDelivery(ctx, project, name, id, r, func(ch *storage.Changes, d *ipam.Delivery) {
		d.Retry = true
		ch.DeliveryUpdate = d
	})
}

// changeDelivery changes a delivery that the server has given up. Every change to a webhook's deliveries also changes the webhook's row. So such
// changes run one after another.
func (s *Webhooks) changeDelivery(ctx context.Context, project, name string, id ipam.ID, r usecase.Request,
	change func(ch *storage.Changes, d *ipam.Delivery),
) (ipam.Delivery, error) {
	_, in, err := s.Enter(ctx, tenancy.DeliveriesWrite, project)
	if err != nil {
		return ipam.Delivery{}, err
	}
	event, epoch := trail.Attempt(ctx, s.Now(), in.ID, trail.KindWebhook, name), ipam.NewID()
	return usecase.RunWithReadBack(ctx, s.Core, "delivery_change", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Delivery, error) {
		w, err := tx.WebhookGet(ctx, in, name)
		if err != nil {
			return ipam.Delivery{}, err
		}
		if err := r.IfMatch.Check(w.Revision); err != nil {
			return ipam.Delivery{}, err
		}
		d, err := tx.DeliveryGet(ctx, w, id)
		if err != nil {
			return d, err
		}
		if d.DeadAt.IsZero() { // the server still tries to send it, so callers cannot see it yet
			return d, ipam.Errorf(ipam.CodeNotFound, "Delivery %s of webhook %s/%s was not found.", id, project, name)
		}
		now := w
		now.Epoch = epoch
		var ch storage.Changes
		before, after := recordedDelivery(d), (*trail.Record)(nil)
		if change(&ch, &d); ch.DeliveryUpdate != nil {
			after = recordedDelivery(d)
		}
		e, err := trail.Effected(event, before, after)
		if err != nil {
			return d, err
		}
		ch.Events = []ipam.Event{e}
		if w.Stopped == ipam.StoppedDeadLetters && ch.DeliveryDelete != nil {
			now.Stopped = ""
		}
		if now.Sends() {
			now.Wake(tx.Now())
		}
		ch.WebhookUpdate = &storage.WebhookUpdate{Was: w.Epoch, Now: now}
		return d, tx.Write(ctx, ch)
	}, func(ctx context.Context) (ipam.Delivery, bool, error) {
		w, err := s.Store.WebhookGet(ctx, in, name)
		if err != nil {
			return ipam.Delivery{}, false, err
		}
		d, found, err := storage.IgnoreNotFound(s.Store.DeliveryGet(ctx, w, id))
		return d, w.Epoch == epoch || !found, err
	})
}

// recordedDelivery returns the audit trail record for a delivery that the server has given up. The event has the webhook's name.
func recordedDelivery(d ipam.Delivery) *trail.Record {
	phase := "Dead"
	if d.Retry {
		phase = "Retrying"
	}
	return &trail.Record{Spec: map[string]map[string]string{"deliveries": {d.ID.String(): phase}}}
}
