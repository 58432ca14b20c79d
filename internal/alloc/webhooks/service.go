package webhooks

import (
	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/webhook"
)

// Options of Webhooks.
type Options struct {
	Key      []byte           // what secrets are derived from; none: webhooks are refused, and none are sent
	Networks webhook.Networks // private ones to which something may be sent
	Body     func(Message) ([]byte, error)
}

// Webhooks is the use cases on webhooks.
type Webhooks struct {
	*usecase.Core

	feed *feed.Feed
	o    Options
}

// New makes the room.
func New(core *usecase.Core, feed *feed.Feed, o Options) *Webhooks {
	return &Webhooks{Core: core, feed: feed, o: o}
}

func (s *Webhooks) enabled() bool { return len(s.o.Key) > 0 }

func (s *Webhooks) secret(id ipam.ID) string { return webhook.Secret(s.o.Key, id) }

func (s *Webhooks) check(spec ipam.WebhookSpec) error {
	return webhook.CheckURL(spec.URL, s.o.Networks)
}
