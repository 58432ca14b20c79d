package webhooks

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/webhook"
)

// Options of Webhooks.
type Options struct {
	Key      []byte                        // what secrets are derived from; none: webhooks are refused, and none are sent
	Networks webhook.Networks              // private ones to which something may be sent
	Body     func(Message) ([]byte, error) // what is sent
}

// Message is what is sent to a webhook.
type Message struct {
	Webhook, Project string
	Changes          []*feed.Change
	Resync           bool   // instead of changes: some are missing
	Cursor           string // behind it
}

// Webhooks is the use cases on webhooks, and what sends.
type Webhooks struct {
	*usecase.Core

	feed   *feed.Feed
	o      Options
	client *webhook.Client
	server ipam.ID // whose leases are

	mu      sync.Mutex
	runs    map[ipam.ID]struct{} // by webhook
	crowded bool                 // others wait for one of them to end
	failed  error                // why the last run has ended that could not go on; nil once it was told
	oldest  time.Time            // since when the delivery has been tried that has been for longest; zero: there is none
	kept    time.Time            // when the leases of all runs were renewed and the oldest was read, by the process's own clock
	running sync.WaitGroup
	life    context.Context //nolint:containedctx // that of the runs, which outlive the pass of the job that begins them
	stop    context.CancelFunc
}

// New makes the room.
func New(core *usecase.Core, follow *feed.Feed, o Options) *Webhooks {
	s := &Webhooks{Core: core, feed: follow, o: o, client: webhook.NewClient(o.Networks), server: ipam.NewID(), runs: map[ipam.ID]struct{}{}}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// EndWebhooks ends all that sends. What was not answered yet is sent again, by another server or later.
func (s *Webhooks) EndWebhooks() {
	s.stop()
	s.running.Wait()
}

// WebhooksWait answers how long the delivery of this region has been tried that has been for longest.
func (s *Webhooks) WebhooksWait() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.oldest.IsZero() {
		return 0
	}
	return max(0, s.Now().Sub(s.oldest))
}

func (s *Webhooks) enabled() bool { return len(s.o.Key) > 0 }

func (s *Webhooks) secret(id ipam.ID) string { return webhook.Secret(s.o.Key, id) }

func (s *Webhooks) check(spec ipam.WebhookSpec) error {
	return webhook.CheckURL(spec.URL, s.o.Networks)
}
