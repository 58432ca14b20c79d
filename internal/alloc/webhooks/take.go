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
	leaseFor    = 30 * time.Second // longer than a request to a receiver lasts, with what is written before and behind it
	keepEvery   = 10 * time.Second
	runsAtOnce  = 1000 // of one server: as many followers as the feed admits of one caller
	takesAtOnce = 100
)

// DeliverWebhooks takes webhooks of this region that nobody has and begins to send, and renews the leases of those that this server has. It answers how
// many it has taken, and why one could not be gone on with since it was called last.
func (s *Webhooks) DeliverWebhooks(ctx context.Context) (taken int64, err error) {
	if !s.enabled() {
		return 0, nil
	}
	errs := []error{s.keep(ctx)}
	room, err := s.room()
	errs = append(errs, err)
	due, err := s.Store.WebhooksDue(ctx, s.Now(), max(1, min(room, takesAtOnce)))
	if err != nil {
		return 0, errors.Join(append(errs, err)...)
	}
	s.mu.Lock()
	s.crowded = room == 0 && len(due) > 0
	s.mu.Unlock()
	if room == 0 || len(due) == 0 {
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
			continue // it is being deleted
		}
		began, err := s.take(ctx, in, w)
		if errs = append(errs, err); began {
			taken++
		}
	}
	return taken, errors.Join(errs...)
}

// room is how many more webhooks this server may have, and what has failed.
func (s *Webhooks) room() (n int, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed, s.failed = s.failed, nil
	return max(0, runsAtOnce-len(s.runs)), failed
}

// keep renews the leases of what this server has, and looks what waits for longest.
func (s *Webhooks) keep(ctx context.Context) error {
	s.mu.Lock()
	due := s.Ticks().Sub(s.kept) >= keepEvery
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

// take makes a webhook this server's own, if nobody was quicker, and begins to send.
func (s *Webhooks) take(ctx context.Context, in storage.ProjectKey, found ipam.Webhook) (bool, error) {
	if !s.begins(found.UID) {
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
		s.ended(found.UID)
		if errors.Is(err, errLost) {
			err = nil
		}
		return false, err
	}
	s.running.Go(func() {
		defer s.ended(found.UID)
		s.run(s.life, in, taken)
	})
	return true, nil
}

func (s *Webhooks) begins(id ipam.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, runs := s.runs[id]; runs || s.life.Err() != nil {
		return false
	}
	s.runs[id] = struct{}{}
	return true
}

func (s *Webhooks) ended(id ipam.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, id)
}

// park leaves a webhook to nobody, until somebody wakes it.
func park(w *ipam.Webhook) { w.DueAt, w.Lease = time.Time{}, ipam.ID{} }

// errLost says that a webhook is another server's by now, or is gone.
var errLost = errors.New("the webhook is not this server's")

// change changes what the server writes of a webhook, as it is now.
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

// own is change of a webhook that has to be this server's.
func (s *Webhooks) own(ctx context.Context, in storage.ProjectKey, op string, of ipam.Webhook,
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
