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

// Options configures Webhooks.
type Options struct {
	Key      []byte                        // derives the secrets; without it, the server refuses webhooks and sends nothing
	Networks webhook.Networks              // private networks to which webhooks may send
	Body     func(Message) ([]byte, error) // encodes a message
}

// Message is the content sent to a webhook.
type Message struct {
	Webhook, Project string
	Changes          []*feed.Change
	Resync           bool   // the message has no changes, because the server lacks some; the receiver must list again
	Cursor           string // the position after the message
}

// Webhooks contains the use cases for webhooks, and the job that sends.
type Webhooks struct {
	*usecase.Core

	feed    *feed.Feed
	options Options
	client  *webhook.Client
	server  ipam.ID // the owner in this server's leases

	mu      sync.Mutex
	runs    map[ipam.ID]struct{} // the running runs, by webhook
	crowded bool                 // other webhooks wait until a run ends
	failed  error                // the error from the last run that failed; nil after DeliverWebhooks has returned it
	oldest  time.Time            // when the server first tried to send the oldest undelivered message; zero: no such message
	kept    time.Time            // when this server last renewed its leases and read oldest, by the process's own clock
	running sync.WaitGroup
	life    context.Context //nolint:containedctx // for the runs, which outlive the job that starts them
	stop    context.CancelFunc
}

// New makes the use cases.
func New(core *usecase.Core, follow *feed.Feed, o Options) *Webhooks {
	s := &Webhooks{Core: core, feed: follow, options: o, client: webhook.NewClient(o.Networks), server: ipam.NewID(), runs: map[ipam.ID]struct{}{}}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// EndWebhooks ends all runs. A server later sends again the messages that no receiver has acknowledged.
func (s *Webhooks) EndWebhooks() {
	s.stop()
	s.running.Wait()
}

// OldestUndelivered returns the age of the oldest undelivered message in this region.
func (s *Webhooks) OldestUndelivered() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.oldest.IsZero() {
		return 0
	}
	return max(0, s.Now().Sub(s.oldest))
}

func (s *Webhooks) enabled() bool { return len(s.options.Key) > 0 }

func (s *Webhooks) secret(id ipam.ID) string { return webhook.Secret(s.options.Key, id) }

func (s *Webhooks) check(spec ipam.WebhookSpec) error {
	return webhook.CheckURL(spec.URL, s.options.Networks)
}
