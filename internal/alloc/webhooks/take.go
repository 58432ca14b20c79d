package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

const (
	leaseFor   = 30 * time.Second // longer than a request to a receiver and the two writes around it
	renewEvery = 10 * time.Second
	maxRuns    = 1000 // webhooks that one server serves at once
	maxTaken   = 100
)

// DeliverWebhooks renews this server's leases. Then it takes webhooks in this region that no server has, and starts a run for each. It returns the
// number of webhooks that it has taken. Its error includes the error from a run that has failed since the last call.
func (s *Webhooks) DeliverWebhooks(ctx context.Context) (taken int64, err error) {
	if !s.enabled() {
		return 0, nil
	}
	errs := []error{s.renewLeases(ctx)}
	free, err := s.freeRuns()
	errs = append(errs, err)
	due, err := s.Store.WebhooksDue(ctx, s.Now(), max(1, min(free, maxTaken)))
	if err != nil {
		return 0, errors.Join(append(errs, err)...)
	}
	s.mu.Lock()
	s.crowded = free == 0 && len(due) > 0
	s.mu.Unlock()
	if free == 0 || len(due) == 0 {
		return 0, errors.Join(errs...)
	}
	ids := make([]ipam.ID, len(due))
	for i, w := range due {
		ids[i] = w.ProjectID
	}
	keys, err := s.Store.ProjectKeys(ctx, ids)
	errs = append(errs, err)
	projects := make(map[ipam.ID]storage.ProjectKey, len(keys))
	for _, key := range keys {
		projects[key.ID] = key
	}
	for _, w := range due {
		in, there := projects[w.ProjectID]
		if !there {
			continue // the project is being deleted
		}
		began, err := s.acquire(ctx, in, w)
		if errs = append(errs, err); began {
			taken++
		}
	}
	return taken, errors.Join(errs...)
}

// freeRuns returns the number of further webhooks that this server may take. It also returns the last failed run's error, once.
func (s *Webhooks) freeRuns() (n int, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed, s.failed = s.failed, nil
	return max(0, maxRuns-len(s.runs)), failed
}

// renewLeases renews the leases on this server's webhooks. It also reads when the first attempt to send the oldest undelivered message was made.
func (s *Webhooks) renewLeases(ctx context.Context) error {
	s.mu.Lock()
	due := s.Ticks().Sub(s.kept) >= renewEvery
	var ids []ipam.ID
	for id := range s.runs {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	began := s.Ticks()
	_, err := usecase.InTx(ctx, s.Core, "webhook_keep", storage.Locks{}, false, func(ctx context.Context, tx storage.Tx) (none struct{}, err error) {
		if len(ids) == 0 {
			return none, nil
		}
		keep := storage.Keeping{Region: s.Region, Lease: s.server, IDs: ids, Until: tx.Now().Add(leaseFor)}
		return none, tx.Write(ctx, storage.Changes{WebhookChanges: storage.WebhookChanges{WebhookKeep: &keep}})
	})
	if err != nil {
		return err
	}
	oldest, err := s.Store.DeliveryOldest(ctx, s.Now())
	if err == nil {
		s.mu.Lock()
		s.kept, s.oldest = began, oldest
		s.mu.Unlock()
	}
	return err
}

// acquire takes a webhook's lease, unless another server was faster, and starts to send.
func (s *Webhooks) acquire(ctx context.Context, in storage.ProjectKey, found ipam.Webhook) (bool, error) {
	if !s.startRun(found.UID) {
		return false, nil
	}
	taken, err := s.change(ctx, in, "webhook_take", found, func(_ storage.Tx, w *ipam.Webhook, at time.Time) (storage.WebhookChanges, error) {
		if w.DueAt.IsZero() || w.DueAt.After(at) {
			return storage.WebhookChanges{}, errLost
		}
		w.Lease, w.DueAt = s.server, at.Add(leaseFor)
		if !w.Sends() {
			park(w)
		}
		return storage.WebhookChanges{}, nil
	})
	if err != nil || taken.Lease != s.server {
		s.runEnded(found.UID)
		if errors.Is(err, errLost) {
			err = nil
		}
		return false, err
	}
	s.running.Go(func() {
		defer s.runEnded(found.UID)
		s.run(s.life, in, taken)
	})
	return true, nil
}

func (s *Webhooks) startRun(id ipam.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, runs := s.runs[id]; runs || s.life.Err() != nil {
		return false
	}
	s.runs[id] = struct{}{}
	return true
}

func (s *Webhooks) runEnded(id ipam.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, id)
}

// park removes a webhook's lease and due time. So no server takes the webhook until a change wakes it.
func park(w *ipam.Webhook) { w.DueAt, w.Lease = time.Time{}, ipam.ID{} }

// errLost reports that another server has the webhook, or that the webhook no longer exists.
var errLost = errors.New("the webhook is not this server's")

// change runs a transaction that changes a webhook's fields that only servers set.
func (s *Webhooks) change(ctx context.Context, in storage.ProjectKey, op string, of ipam.Webhook,
	change func(tx storage.Tx, w *ipam.Webhook, at time.Time) (storage.WebhookChanges, error),
) (ipam.Webhook, error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	epoch := ipam.NewID()
	return usecase.InTx(ctx, s.Core, op, storage.Locks{}, false, func(ctx context.Context, tx storage.Tx) (ipam.Webhook, error) {
		was, found, err := storage.IgnoreNotFound(tx.WebhookGet(ctx, in, of.Name))
		if err != nil {
			return was, err
		}
		if !found || was.UID != of.UID {
			return was, errLost
		}
		now := was
		now.Epoch = epoch
		ch, err := change(tx, &now, tx.Now())
		if err != nil {
			return was, err
		}
		ch.WebhookUpdate = &storage.WebhookUpdate{Was: was.Epoch, Now: now}
		return now, tx.Write(ctx, storage.Changes{WebhookChanges: ch})
	})
}

// changeOwned calls s.change for a webhook that must still belong to this server. It also renews the lease.
func (s *Webhooks) changeOwned(ctx context.Context, in storage.ProjectKey, op string, of ipam.Webhook,
	change func(tx storage.Tx, w *ipam.Webhook, at time.Time) (storage.WebhookChanges, error),
) (ipam.Webhook, error) {
	return s.change(ctx, in, op, of, func(tx storage.Tx, w *ipam.Webhook, at time.Time) (storage.WebhookChanges, error) {
		if w.Lease != s.server {
			return storage.WebhookChanges{}, errLost
		}
		w.DueAt = at.Add(leaseFor)
		return change(tx, w, at)
	})
}
