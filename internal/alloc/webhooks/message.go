package webhooks

import "github.com/carve-ipam/carve/internal/alloc/feed"

// Message is what is sent to a webhook.
type Message struct {
	Webhook, Project string
	Changes          []*feed.Change
	Resync           bool   // instead of changes: some are missing
	Cursor           string // behind it
}
