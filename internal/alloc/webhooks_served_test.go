package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestInterruptedAttemptsAreNotReceiverFailures(t *testing.T) {
	t.Parallel()
	b, _ := hooked(t)
	inside, breaks := make(chan struct{}), &atomic.Bool{}
	breaks.Store(true)
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body) // otherwise the server does not notice a closed connection
		if breaks.Load() {
			inside <- struct{}{}
			<-q.Context().Done()
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(r.Close)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	b.claim(t, claim("one", "net", 32))
	ahead := &atomic.Int64{}
	for range 5 {
		s := b.sender(t, ahead)
		began := false
		pass(t, b, func() bool {
			select {
			case <-inside:
				began = true
			default:
			}
			return began
		}, s)
		s.EndWebhooks()
	}
	breaks.Store(false)
	pass(t, b, func() bool { return b.hookNow(t).Progress.Failures == 1 }, b.sender(t, ahead))
	w := b.hookNow(t)
	require.Less(t, w.DueAt.Sub(w.Progress.Error.At), 7*time.Second, "the pause after one failure")
}

// unfollowed is a store that cannot read the feed while broken is set.
type unfollowed struct {
	storage.Store
	broken atomic.Bool
}

func (u *unfollowed) FeedRead(ctx context.Context, project storage.ProjectKey, from storage.FeedPosition, after ipam.ID, limit int) (storage.FeedPage, error) {
	if u.broken.Load() {
		return storage.FeedPage{}, errors.New("the feed cannot be read")
	}
	return u.Store.FeedRead(ctx, project, from, after, limit)
}

func TestWebhookStatusReportsAServerFailure(t *testing.T) {
	t.Parallel()
	b, _ := hooked(t)
	store, _ := b.store(t)
	u := &unfollowed{Store: store}
	u.broken.Store(true)
	ahead := &atomic.Int64{}
	s := b.senderOver(t, u, ahead)
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	require.Eventually(t, func() bool {
		_, _ = s.DeliverWebhooks(b.ctx) // DeliverWebhooks returns the failure
		return b.hookNow(t).State() == "Retrying"
	}, longEnough, 10*time.Millisecond)
	w := b.hookNow(t)
	require.Equal(t, "unserved", w.Progress.Error.Reason)
	require.Zero(t, w.Progress.Failures, "the receiver has not failed")

	b.claim(t, claim("one", "net", 32))
	u.broken.Store(false)
	ahead.Store(int64(time.Minute))
	require.Eventually(t, func() bool {
		_, _ = s.DeliverWebhooks(b.ctx)
		return len(r.changes()) == 1 && b.hookNow(t).State() == "Delivering"
	}, longEnough, 10*time.Millisecond)
	require.Nil(t, b.hookNow(t).Progress.Error)
}

func TestWebhookIsServedWhenFollowersUseAllSlots(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	cursor := b.follow(t, "", feed.Filter{}).Cursor()
	for i := 0; ; i++ {
		f, err := b.Follow(b.acting(fmt.Sprint("corp:evil-", i/1000), tenancy.Viewer, project), project, cursor, feed.Filter{})
		if err != nil {
			refused(t, err, ipam.CodeRateLimited)
			break
		}
		t.Cleanup(f.Close)
	}
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	b.claim(t, claim("one", "net", 32))
	pass(t, b, func() bool { return len(r.changes()) == 1 }, s)
}
