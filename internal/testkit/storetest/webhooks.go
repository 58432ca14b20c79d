package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// webhook returns a webhook with a value in every field.
func (s *suite) webhook(p ipam.Project, name string) ipam.Webhook {
	failed := &ipam.SendError{Reason: "status", Status: 503, At: born.Add(2 * time.Hour)}
	return ipam.Webhook{
		Metadata: s.meta(p.Name, name), ProjectID: p.UID, Epoch: ipam.NewID(), Lease: ipam.NewID(), DueAt: born.Add(time.Hour), Stopped: ipam.StoppedGone,
		Spec: ipam.WebhookSpec{
			URL: "https://receiver.example/" + name, Kinds: []string{"IPClaim"}, Name: "web", LabelSelector: "a", Paused: true,
			Labels: &ipam.Selector{MatchExpressions: []ipam.Requirement{{Key: "a", Operator: ipam.OpExists}}},
		},
		Progress: ipam.WebhookProgress{Cursor: "cursor", Failures: 3, Error: failed, DeliveredAt: born},
	}
}

func (s *suite) delivery(w ipam.Webhook) ipam.Delivery {
	return ipam.Delivery{
		ID: ipam.NewTimeID(born), Region: w.Region, ProjectID: w.ProjectID, WebhookID: w.UID, Cursor: "behind", Message: []byte(`{"a": 1}`), Attempts: 2, BeganAt: born,
		Error: &ipam.SendError{Reason: "timeout", At: born}, DeadAt: born.Add(24 * time.Hour), Retry: true,
	}
}

// writeWebhooks writes changes of webhooks and deliveries.
func (s *suite) writeWebhooks(ch storage.WebhookChanges) {
	s.write(storage.Changes{WebhookChanges: ch})
}

var webhooks = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		e := s.estate()
		full, bare := s.webhook(e.project, "full"), s.webhook(e.project, "bare")
		bare.Labels, bare.Annotations, bare.DueAt, bare.Lease, bare.Stopped = nil, nil, time.Time{}, ipam.ID{}, ""
		bare.Spec, bare.Progress = ipam.WebhookSpec{URL: "https://receiver.example"}, ipam.WebhookProgress{Cursor: "c"}
		for _, w := range []ipam.Webhook{full, bare} {
			s.writeWebhooks(storage.WebhookChanges{WebhookInsert: &w})
			reads(s, w)(s.Store.WebhookGet(s.ctx, e.key, w.Name))
		}
		now := full
		now.Epoch, now.Revision, now.Progress.Cursor, now.Spec.URL, now.Stopped = ipam.NewID(), ipam.NewID(), "next", "https://elsewhere.example", ""
		s.writeWebhooks(storage.WebhookChanges{WebhookUpdate: &storage.WebhookUpdate{Was: full.Epoch, Now: now}})
		reads(s, now)(s.Store.WebhookGet(s.ctx, e.key, full.Name))
	},
	"ListOfAProjectIsByNameInPages": func(s *suite) {
		e := s.estate()
		for _, name := range names {
			for _, w := range []ipam.Webhook{s.webhook(e.project, name), s.webhook(e.other, name+"x")} {
				s.writeWebhooks(storage.WebhookChanges{WebhookInsert: &w})
			}
		}
		inPages(s, "", func(after string, limit int) ([]ipam.Webhook, error) {
			return s.Store.WebhookList(s.ctx, e.key, after, limit)
		}, func(w ipam.Webhook) string { return w.Name }, names)
	},
	"DueWebhooksAreFoundAndLeased": func(s *suite) {
		e := s.estate()
		late, later, parked := s.webhook(e.project, "late"), s.webhook(e.project, "later"), s.webhook(e.project, "parked")
		late.DueAt, later.DueAt, parked.DueAt = born.Add(-time.Hour), born, time.Time{}
		for _, w := range []ipam.Webhook{later, late, parked} {
			s.writeWebhooks(storage.WebhookChanges{WebhookInsert: &w})
		}
		due := func() (names []string) {
			found, err := s.Store.WebhooksDue(s.ctx, born, 10)
			require.NoError(s, err)
			for _, w := range found {
				names = append(names, w.Name)
			}
			return names
		}
		require.Equal(s, []string{"late", "later"}, due())
		s.writeWebhooks(storage.WebhookChanges{WebhookKeep: &storage.Keeping{Region: s.Region, Lease: late.Lease, IDs: []ipam.ID{late.UID, later.UID}, Until: born.Add(time.Hour)}})
		require.Equal(s, []string{"later"}, due(), "which is another server's")
	},
	"DeliveriesRoundTripAndAreDeletedWithTheirWebhook": func(s *suite) {
		e := s.estate()
		w := s.webhook(e.project, "hook")
		dead, waiting := s.delivery(w), s.delivery(w)
		waiting.DeadAt, waiting.Retry, waiting.Error, waiting.BeganAt = time.Time{}, false, nil, born.Add(-time.Hour)
		s.writeWebhooks(storage.WebhookChanges{WebhookInsert: &w, DeliveryInsert: &dead})
		s.writeWebhooks(storage.WebhookChanges{DeliveryInsert: &waiting})
		for _, d := range []ipam.Delivery{dead, waiting} {
			reads(s, d)(s.Store.DeliveryGet(s.ctx, w, d.ID))
		}
		next := func() ipam.Delivery {
			d, found, err := s.Store.DeliveryNext(s.ctx, w)
			require.NoError(s, err)
			require.True(s, found)
			return d
		}
		require.Equal(s, dead, next(), "what is to be sent once more comes first")
		dead.Retry = false
		s.writeWebhooks(storage.WebhookChanges{DeliveryUpdate: &dead})
		require.Equal(s, waiting, next())
		list, err := s.Store.DeliveryList(s.ctx, w, ipam.ID{}, 10)
		require.NoError(s, err)
		require.Equal(s, []ipam.Delivery{dead}, list)
		oldest, err := s.Store.DeliveryOldest(s.ctx, born)
		require.NoError(s, err)
		require.True(s, oldest.Equal(waiting.BeganAt))
		got, err := s.Store.WebhookGet(s.ctx, e.key, w.Name)
		require.NoError(s, err)
		require.EqualValues(s, 1, got.DeadLetters)
		s.writeWebhooks(storage.WebhookChanges{WebhookDelete: &w})
		_, found, err := s.Store.DeliveryNext(s.ctx, w)
		require.NoError(s, err)
		require.False(s, found)
		_, err = s.Store.DeliveryGet(s.ctx, w, dead.ID)
		require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	},
}
