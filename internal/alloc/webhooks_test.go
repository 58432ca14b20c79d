package alloc_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func webhookTo(name, url string) ipam.Webhook {
	return ipam.Webhook{Metadata: ipam.Metadata{Name: name}, Spec: ipam.WebhookSpec{URL: url}}
}

const receiverURL = "https://receiver.example/carve"

func TestWebhookSecretIsReturnedOnlyOnCreation(t *testing.T) {
	t.Parallel()
	b, _ := hooked(t)
	r := usecase.Request{Key: "key", Fingerprint: [16]byte{1}}
	made, err := b.CreateWebhook(b.ctx, project, webhookTo("hook", receiverURL), r)
	require.NoError(t, err)
	secret := made.Value.Secret
	require.True(t, strings.HasPrefix(secret, "whsec_"), secret)
	again, err := b.CreateWebhook(b.ctx, project, webhookTo("hook", receiverURL), r)
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Empty(t, again.Value.Secret)
	require.Equal(t, made.Value.UID, again.Value.UID)
	require.Empty(t, b.hookNow(t).Secret)
	page, err := b.ListWebhooks(b.ctx, project, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Empty(t, page.Items[0].Secret)
	bare := strings.TrimPrefix(secret, "whsec_")
	for table, rows := range b.dump(t) {
		require.NotContains(t, fmt.Sprint(rows), bare, table)
	}
	dry, err := b.CreateWebhook(b.ctx, project, webhookTo("dry", receiverURL), usecase.Request{DryRun: true})
	require.NoError(t, err)
	require.Empty(t, dry.Value.Secret)
	_, err = b.GetWebhook(b.ctx, project, "dry")
	refused(t, err, ipam.CodeNotFound)
}

func TestInvalidWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	b, _ := hooked(t)
	create := func(w ipam.Webhook) error {
		_, err := b.CreateWebhook(b.ctx, project, w, usecase.Request{})
		return err
	}
	for _, url := range []string{"ftp://receiver.example", "https://169.254.169.254/", "https://user@receiver.example/", "https://10.0.0.1/"} {
		refused(t, create(webhookTo("hook", url)), ipam.CodeInvalidArgument)
	}
	require.NoError(t, create(webhookTo("hook", receiverURL)))
	refused(t, create(webhookTo("hook", receiverURL)), ipam.CodeAlreadyExists)
	_, err := b.PatchWebhook(b.ctx, project, "hook", usecase.Request{}, func(w ipam.Webhook) (ipam.Webhook, error) {
		w.Spec.URL = "https://[::1]/"
		return w, nil
	})
	refused(t, err, ipam.CodeInvalidArgument)
	for i := range 19 {
		require.NoError(t, create(webhookTo(fmt.Sprint("hook-", i), receiverURL)))
	}
	refusedAsFull(t, create(webhookTo("one-more", receiverURL)), "20")

	without := setup(t)
	_, err = without.CreateWebhook(without.ctx, project, webhookTo("hook", receiverURL), usecase.Request{})
	refused(t, err, ipam.CodeWebhooksDisabled)
	taken, err := without.DeliverWebhooks(without.ctx)
	require.NoError(t, err)
	require.Zero(t, taken)
}

func TestWebhooksRequireTheirRoles(t *testing.T) {
	t.Parallel()
	b, _ := hooked(t)
	b.hook(t, ipam.WebhookSpec{URL: receiverURL})
	as := func(role tenancy.Role, in string) context.Context {
		return tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "x", Method: "dev", Roles: map[string]tenancy.Role{in: role}})
	}
	_, err := b.GetWebhook(as(tenancy.Viewer, project), project, "hook")
	require.NoError(t, err)
	_, err = b.ListDeliveries(as(tenancy.Provider, project), project, "hook", 1, "", usecase.Reading{})
	refused(t, err, ipam.CodePermissionDenied)
	refused(t, b.DeleteWebhook(as(tenancy.Provider, project), project, "hook", usecase.Request{}), ipam.CodePermissionDenied)
	_, err = b.GetWebhook(as(tenancy.Admin, "another"), project, "hook")
	refused(t, err, ipam.CodeNotFound)
}

// letters adds n undeliverable messages to a webhook, and returns the id of the last message.
func (b *bundle) letters(t testing.TB, store storage.Store, w ipam.Webhook, n int) (last ipam.ID) {
	t.Helper()
	for range n {
		last = ipam.NewTimeID(w.CreatedAt)
		d := ipam.Delivery{
			ID: last, Region: w.Region, ProjectID: w.ProjectID, WebhookID: w.UID, Message: []byte("{}"), Attempts: 1, BeganAt: w.CreatedAt, DeadAt: w.CreatedAt,
			Error: &ipam.SendError{Reason: "timeout", At: w.CreatedAt},
		}
		require.NoError(t, store.InTx(b.ctx, "letter_add", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			return tx.Write(ctx, storage.Changes{WebhookChanges: storage.WebhookChanges{DeliveryInsert: &d}})
		}))
	}
	return last
}

func TestWebhookWithTooManyDeadLettersWaitsUntilOneIsDropped(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	works := false
	r := receive(t, func(sent) int {
		if works {
			return http.StatusOK
		}
		return http.StatusBadGateway
	})
	w := b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	store, _ := b.store(t)
	last := b.letters(t, store, w, ipam.MaxDeadLetters-1)
	b.claim(t, claim("one", "net", 32))
	pass(t, b, func() bool { return b.hookNow(t).Progress.Failures > 0 }, s)
	s.ahead.Add(int64(25 * time.Hour))
	pass(t, b, func() bool { return b.hookNow(t).Stopped == ipam.StoppedDeadLetters }, s)
	require.EqualValues(t, ipam.MaxDeadLetters, b.hookNow(t).DeadLetters)
	page, err := b.ListDeliveries(b.ctx, project, "hook", 50, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 10, "each has what was sent")
	require.NotEmpty(t, page.Next)
	b.claim(t, claim("two", "net", 32))
	r.mu.Lock()
	works = true
	r.mu.Unlock()
	require.NoError(t, b.DeleteDelivery(b.ctx, project, "hook", last, usecase.Request{}))
	pass(t, b, func() bool { return strings.Contains(fmt.Sprint(r.changes()), "two") }, s)
	refused(t, b.DeleteDelivery(b.ctx, project, "hook", last, usecase.Request{}), ipam.CodeNotFound)

	n, err := store.ExpireDeliveries(b.ctx, w.CreatedAt.Add(time.Minute))
	require.NoError(t, err)
	require.EqualValues(t, ipam.MaxDeadLetters-2, n)
	require.NoError(t, b.DeleteWebhook(b.ctx, project, "hook", usecase.Request{}))
	require.Empty(t, b.dump(t)["deliveries"])
}

func TestWebhookMessageIsLimitedInBytes(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	large := strings.Repeat("x", 4000)
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}, Paused: true})
	var want []string
	for i := range 30 {
		name := fmt.Sprintf("claim-%02d", i)
		c := claim(name, "net", 32)
		c.Annotations = map[string]string{"a": large, "b": large, "c": large}
		b.claim(t, c)
		want = append(want, "Put IPClaim "+name)
	}
	require.NoError(t, b.changeHook(func(spec *ipam.WebhookSpec) { spec.Paused = false }))
	pass(t, b, func() bool { return len(r.changes()) >= len(want) }, s)
	require.Subset(t, r.changes(), want)
	require.Greater(t, len(r.all()), 1, "in several messages")
}

func TestWebhookSendsChangesAfterAnOversizedRecord(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}, Paused: true})
	var claims []ipam.Claim
	for i := range 30 {
		claims = append(claims, claim(fmt.Sprint("claim-", i), "net", 32))
	}
	b.batch(t, claims...)
	b.claim(t, claim("after", "net", 32))
	require.NoError(t, b.changeHook(func(spec *ipam.WebhookSpec) { spec.Paused = false }))
	pass(t, b, func() bool { return slices.Contains(r.changes(), "Put IPClaim after") }, s)
	require.Len(t, r.all()[0].Changes, len(claims), "one record is not divided")
}
