package webhooks

import (
	"context"
	"reflect"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/webhook"
)

// MaxWebhooks limits the webhooks in a project, because each webhook follows the changes.
const MaxWebhooks = 20

func (s *Webhooks) of() kind.Kind[ipam.Webhook] {
	return kind.Kind[ipam.Webhook]{
		Core: s.Core, Name: trail.KindWebhook, Op: "webhook", Reads: tenancy.WebhooksRead, Writes: tenancy.WebhooksWrite,
		Head: func(w *ipam.Webhook) *ipam.Metadata { return &w.Metadata },
		Find: func(read storage.Reader) kind.Finder[ipam.Webhook] { return read.WebhookGet },
		Write: func(ch *storage.Changes, was, now *ipam.Webhook) {
			switch {
			case was == nil:
				ch.WebhookInsert = now
			case now == nil:
				ch.WebhookDelete = was
			default:
				ch.WebhookUpdate = &storage.WebhookUpdate{Was: was.Epoch, Now: *now}
			}
		},
		Record:   s.recorded,
		Check:    func(_ storage.ProjectKey, w ipam.Webhook) error { return s.check(w.Spec) },
		SameSpec: func(a, b ipam.Webhook) bool { return reflect.DeepEqual(a.Spec, b.Spec) },
	}
}

// recorded returns the audit trail record for a webhook. The URL's path and query may contain secrets. So the record has a fingerprint for the URL
// instead, which shows only whether the URL has changed.
func (s *Webhooks) recorded(w ipam.Webhook) *trail.Record {
	spec := w.Spec
	if spec.URL = webhook.Concealed(w.Spec.URL); spec.URL != w.Spec.URL {
		spec.URL += "#" + webhook.Fingerprint(s.options.Key, w.UID, w.Spec.URL)
	}
	return trail.Recorded(w.Metadata, spec)
}

// concealURL hides the URL's path and query from a caller that may not change webhooks.
func concealURL(ctx context.Context, project string, w ipam.Webhook) ipam.Webhook {
	pass, err := tenancy.Authorize(ctx, tenancy.WebhooksWrite, project)
	if err == nil {
		err = pass.CheckProject(storage.ProjectKey{ID: w.ProjectID, Name: project})
	}
	if err != nil {
		w.Spec.URL = webhook.Concealed(w.Spec.URL)
	}
	return w
}

// ListWebhooks lists a project's webhooks by name.
func (s *Webhooks) ListWebhooks(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Webhook], error) {
	page, err := s.of().List(ctx, project, "webhooks", storage.Reader.WebhookList, limit, cursor, r)
	for i, w := range page.Items {
		page.Items[i] = concealURL(ctx, project, w)
	}
	return page, err
}

// GetWebhook reads one webhook.
func (s *Webhooks) GetWebhook(ctx context.Context, project, name string) (ipam.Webhook, error) {
	w, err := s.of().Get(ctx, project, name)
	return concealURL(ctx, project, w), err
}

// CreateWebhook makes a webhook that sends all changes from now on to a URL. Only this response contains the secret. A repeat with the same
// idempotency key and a dry run return no secret.
func (s *Webhooks) CreateWebhook(ctx context.Context, project string, w ipam.Webhook, r usecase.Request) (usecase.Result[ipam.Webhook], error) {
	none := usecase.Result[ipam.Webhook]{}
	who, in, err := s.Enter(ctx, tenancy.WebhooksWrite, project)
	if err != nil {
		return none, err
	}
	if err := usecase.CheckNew(&w.Metadata, s.check(w.Spec)); err != nil {
		return none, err
	}
	if !s.enabled() {
		return none, ipam.Errorf(ipam.CodeWebhooksDisabled, "This server sends no webhooks, because it has no key for them. Ask the operator to set --webhook-key-file.")
	}
	mark, err := s.Store.RecentFeedState(ctx) // read before the webhook exists, so that no change between a read by the caller and the creation is lost
	if err != nil {
		return none, err
	}
	w.Metadata = s.NewMetadata(w.Metadata, project, s.Region, who)
	w.ProjectID, w.Epoch, w.DueAt = in.ID, ipam.NewID(), w.CreatedAt
	w.Progress.Cursor = s.feed.CursorOf(in, mark)
	if w.Spec.Paused {
		w.DueAt = usecase.Timestamp{}
	}
	locks := storage.Locks{Exclusive: []ipam.ID{ipam.DerivedID(in.ID, "webhooks")}, Shared: []ipam.ID{in.ID}}
	made, err := s.of().Create(ctx, in, w, r, locks, func(ctx context.Context, tx storage.Tx, _, now *ipam.Webhook) (storage.Changes, error) {
		if err := usecase.CheckProjectExists(ctx, tx, in); err != nil {
			return storage.Changes{}, err
		}
		return storage.Changes{}, checkNewWebhook(ctx, tx, in, now.Name)
	})
	if err == nil && !made.Replayed && !r.DryRun {
		made.Value.Secret = s.secret(made.Value.UID)
	}
	return made, err
}

// checkNewWebhook refuses a new webhook if its name is taken in any region, or if the project has MaxWebhooks webhooks.
func checkNewWebhook(ctx context.Context, tx storage.Tx, in storage.ProjectKey, name string) error {
	have, err := tx.WebhookList(ctx, in, "", MaxWebhooks)
	if err != nil {
		return err
	}
	for _, other := range have {
		if other.Name == name {
			return ipam.Errorf(ipam.CodeAlreadyExists, "A webhook of this name exists already in the project.").At("/metadata/name", "is taken; choose another name.")
		}
	}
	if len(have) < MaxWebhooks {
		return nil
	}
	return usecase.ProjectFull(in.Name, "webhook", MaxWebhooks, "Delete one first.")
}

// PatchWebhook applies the function mutate to labels, annotations and spec. mutate must be pure. If mutate changes nothing, PatchWebhook writes
// nothing. If the webhook is stopped, a change to the spec resumes it, because the change may have removed the cause.
func (s *Webhooks) PatchWebhook(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Webhook) (ipam.Webhook, error)) (ipam.Webhook, error) {
	_, in, err := s.Enter(ctx, tenancy.WebhooksWrite, project)
	if err != nil {
		return ipam.Webhook{}, err
	}
	epoch := ipam.NewID()
	return s.of().Patch(ctx, in, name, r, storage.Locks{}, mutate, func(_ context.Context, tx storage.Tx, was, now *ipam.Webhook) (storage.Changes, error) {
		now.Epoch = epoch
		if !reflect.DeepEqual(was.Spec, now.Spec) {
			now.Stopped, now.Progress.Failures = "", 0
			now.Wake(tx.Now())
		}
		return storage.Changes{}, nil
	})
}

// DeleteWebhook deletes a webhook with its undeliverable messages.
func (s *Webhooks) DeleteWebhook(ctx context.Context, project, name string, r usecase.Request) error {
	return s.of().Remove(ctx, project, name, r, func(context.Context, storage.Tx, storage.ProjectKey, ipam.Webhook) error { return nil })
}
