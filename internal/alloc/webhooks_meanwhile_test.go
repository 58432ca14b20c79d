package alloc_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestGoneReceiverDoesNotStopAConcurrentlyMovedWebhook(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	to := receive(t, ok)
	from := receive(t, func(sent) int {
		if err := b.changeHook(func(spec *ipam.WebhookSpec) { spec.URL = to.URL }); err != nil {
			t.Error(err)
		}
		return http.StatusGone
	})
	b.hook(t, ipam.WebhookSpec{URL: from.URL, Kinds: []string{"IPClaim"}})
	b.claim(t, claim("one", "net", 32))
	pass(t, b, func() bool { return len(to.all()) > 0 }, s)
	require.Equal(t, from.all()[0], to.all()[0])
}

// behindRead is a store that calls a function after each read of a webhook.
type behindRead struct {
	storage.Store

	then func()
}

// WebhookGet implements storage.Store.
func (s *behindRead) WebhookGet(ctx context.Context, in storage.ProjectKey, name string) (ipam.Webhook, error) {
	w, err := s.Store.WebhookGet(ctx, in, name)
	s.then()
	return w, err
}

// The old filter of a webhook skips an event that the new filter matches. The sender has not written its position yet when the filter changes. So it
// must send the event.
func TestFilterChangeResendsEarlierMatches(t *testing.T) {
	t.Parallel()
	b, _ := hooked(t)
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	store, _ := b.store(t)
	ahead := &atomic.Int64{}
	s := b.senderOver(t, &behindRead{store, sync.OnceFunc(func() {
		ahead.Add(int64(11 * time.Minute))
		changed := b.changeHook(func(spec *ipam.WebhookSpec) { spec.Kinds = []string{"IPPool"} })
		_, made := b.CreatePool(b.ctx, project, root("more", "192.168.0.0/16"), usecase.Request{})
		if err := errors.Join(changed, made); err != nil {
			t.Error(err)
		}
	})}, ahead)
	pass(t, b, func() bool { return slices.Contains(r.changes(), "Put IPPool more") }, s)
}
