package alloc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/webhook"
)

var loopback = webhook.Networks{netip.MustParsePrefix("127.0.0.0/8")}

// sent is a webhook message in the format of these tests.
type sent struct {
	ID      string `json:"-"` // from the header webhook-id
	Resync  bool
	Changes []string
	Cursor  string
	Padding string // makes the message as large as one with objects of the maximum size
}

func bodyOf(m webhooks.Message) ([]byte, error) {
	s := sent{Resync: m.Resync, Cursor: m.Cursor, Padding: strings.Repeat("-", 12_000*len(m.Changes))}
	for _, c := range m.Changes {
		word := "Put"
		if c.Object == nil {
			word = "Delete"
		}
		s.Changes = append(s.Changes, fmt.Sprintf("%s %s %s", word, c.Kind, c.Name))
	}
	return json.Marshal(s)
}

// sending is a server that sends webhooks. Its clock is the database's clock plus ahead.
type sending struct {
	*alloc.Service
	ahead *atomic.Int64
}

func (b *bundle) sender(t testing.TB, ahead *atomic.Int64) sending {
	t.Helper()
	store, _ := b.store(t)
	return b.senderOver(t, store, ahead)
}

func (b *bundle) senderOver(t testing.TB, store storage.Store, ahead *atomic.Int64) sending {
	t.Helper()
	s := sending{ahead: ahead}
	s.Service = alloc.New(store, alloc.Options{
		Region: region, Clock: func() time.Time { return store.Now().Add(time.Duration(ahead.Load())) },
		Webhooks: webhooks.Options{Key: bytes.Repeat([]byte("k"), 32), Networks: loopback, Body: bodyOf},
	})
	t.Cleanup(func() { s.EndWebhooks(); s.EndFeed() })
	return s
}

// hooked returns a bundle, and its server, which can send webhooks.
func hooked(t testing.TB) (*bundle, sending) {
	t.Helper()
	b := followable(t)
	s := b.sender(t, &atomic.Int64{})
	b.Service = s.Service
	return b, s
}

// pass makes the servers deliver webhooks until the condition so is true.
func pass(t testing.TB, b *bundle, so func() bool, servers ...sending) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, s := range servers {
			_, err := s.DeliverWebhooks(b.ctx)
			require.NoError(t, err)
		}
		return so()
	}, longEnough, 10*time.Millisecond)
}

const longEnough = 3 * time.Minute

// receiver is an HTTP server that records its requests. The function answer selects the status of the response.
type receiver struct {
	*httptest.Server
	answer func(sent) int // under mu

	mu     sync.Mutex
	got    []sent
	inside int
	peak   int // largest number of concurrent requests
}

func receive(t testing.TB, answer func(sent) int) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		s := sent{}
		if err == nil {
			err = json.Unmarshal(body, &s)
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.ID = q.Header.Get("webhook-id")
		r.mu.Lock()
		r.inside++
		r.peak = max(r.peak, r.inside)
		r.got = append(r.got, s)
		status := r.answer(s)
		r.inside--
		r.mu.Unlock()
		if status == 0 {
			panic(http.ErrAbortHandler) // closes the connection
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sent(nil), r.got...)
}

// changes returns the received changes in the order of their first arrival. It omits repetitions, because a change may arrive again.
func (r *receiver) changes() (first []string) {
	for _, s := range r.all() {
		for _, c := range s.Changes {
			if !slices.Contains(first, c) {
				first = append(first, c)
			}
		}
	}
	return first
}

func (b *bundle) hook(t testing.TB, spec ipam.WebhookSpec) ipam.Webhook {
	t.Helper()
	made, err := b.CreateWebhook(b.ctx, project, ipam.Webhook{Metadata: ipam.Metadata{Name: "hook"}, Spec: spec}, usecase.Request{})
	require.NoError(t, err)
	return made.Value
}

func (b *bundle) hookNow(t testing.TB) ipam.Webhook {
	t.Helper()
	w, err := b.GetWebhook(b.ctx, project, "hook")
	require.NoError(t, err)
	return w
}

func (b *bundle) changeHook(change func(*ipam.WebhookSpec)) error {
	_, err := b.PatchWebhook(b.ctx, project, "hook", usecase.Request{IfMatch: usecase.Match{Any: true}}, func(w ipam.Webhook) (ipam.Webhook, error) {
		change(&w.Spec)
		return w, nil
	})
	return err
}

func ok(sent) int { return http.StatusOK }

func TestWebhookSendsChangesInOrder(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	b.claim(t, claim("one", "net", 32))
	pass(t, b, func() bool { return len(r.changes()) == 1 }, s)
	b.claim(t, claim("two", "net", 32))
	require.NoError(t, b.DeleteClaim(b.ctx, project, "one", usecase.Request{}))
	pass(t, b, func() bool { return len(r.changes()) >= 3 }, s)
	require.Equal(t, []string{"Put IPClaim one", "Put IPClaim two", "Delete IPClaim one"}, r.changes())
	pass(t, b, func() bool { return b.hookNow(t).Progress.Cursor == r.all()[len(r.all())-1].Cursor }, s)
	w := b.hookNow(t)
	require.Equal(t, "Delivering", w.State())
	require.NotZero(t, w.Progress.DeliveredAt)
}

func TestFailedDeliveryIsRetriedWithTheSameIDAndBody(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	n, failures := 0, []int{0, http.StatusInternalServerError, http.StatusFound}
	r := receive(t, func(sent) int { // n stays the same until the test has seen the failure, so an early retry fails in the same way
		if n < len(failures) {
			return failures[n]
		}
		return http.StatusOK
	})
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	b.claim(t, claim("one", "net", 32))
	for tries, reason := range []string{"unreachable", "status", "redirect"} {
		var w ipam.Webhook
		pass(t, b, func() bool {
			w = b.hookNow(t)
			return w.Lease.IsZero() && w.Progress.Error != nil && w.Progress.Error.Reason == reason
		}, s)
		require.Equal(t, "Retrying", w.State())
		require.Greater(t, w.DueAt.Sub(w.Progress.Error.At), time.Second, "it is tried later")
		require.GreaterOrEqual(t, w.Progress.Failures, tries+1)
		require.Len(t, r.all(), w.Progress.Failures)
		b.claim(t, claim(fmt.Sprint("more-", tries), "net", 32)) // the next attempt must send the same message, without this claim
		r.mu.Lock()
		n++
		r.mu.Unlock()
		s.ahead.Add(int64(time.Hour))
	}
	pass(t, b, func() bool { return len(r.changes()) == 4 && b.hookNow(t).Progress.Failures == 0 }, s)
	all := r.all()
	for _, again := range all[1:4] {
		require.Equal(t, all[0], again)
	}
	require.Equal(t, []string{"Put IPClaim one"}, all[0].Changes)
	require.Equal(t, []string{"Put IPClaim one", "Put IPClaim more-0", "Put IPClaim more-1", "Put IPClaim more-2"}, r.changes())
}

func TestDeliveryOfAKilledSenderIsRepeatedByAnother(t *testing.T) {
	t.Parallel()
	b, first := hooked(t)
	second := b.sender(t, first.ahead)
	killed := make(chan struct{})
	r := receive(t, func(s sent) int {
		select {
		case <-killed:
		default: // the message arrives, but the sender ends before it gets the response
			close(killed)
			go first.EndWebhooks()
			return 0
		}
		return http.StatusOK
	})
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	b.claim(t, claim("one", "net", 32))
	pass(t, b, func() bool {
		select {
		case <-killed:
			return true
		default:
			return false
		}
	}, first)
	b.claim(t, claim("two", "net", 32))
	first.EndWebhooks()
	first.ahead.Add(int64(time.Minute)) // the lease ends, unless the first server has already returned it
	pass(t, b, func() bool { return len(r.changes()) == 2 }, second)
	all := r.all()
	require.Equal(t, all[0], all[1], "the same id and the same body")
	require.Equal(t, []string{"Put IPClaim one"}, all[0].Changes)
}

func TestConcurrentSendersDeliverOneMessageAtATime(t *testing.T) {
	t.Parallel()
	b, first := hooked(t)
	second := b.sender(t, first.ahead)
	n := 0
	r := receive(t, func(sent) int {
		if n++; n%3 == 0 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	later := func(d time.Duration) { // moves the clock only while no server has the lease, so no lease ends during a request
		if b.hookNow(t).Lease.IsZero() {
			first.ahead.Add(int64(d))
		}
	}
	var want []string
	for i := range 30 {
		name := fmt.Sprint("claim-", i)
		b.claim(t, claim(name, "net", 32))
		want = append(want, "Put IPClaim "+name)
		for _, s := range [][]sending{{first, second}, {second, first}}[i%2] {
			_, err := s.DeliverWebhooks(b.ctx)
			require.NoError(t, err)
		}
		later(10 * time.Second) // longer than the first pause, and shorter than a lease
	}
	last := want[len(want)-1]
	pass(t, b, func() bool {
		later(time.Second)
		all := r.changes()
		return slices.Contains(all, last) && b.hookNow(t).Progress.Failures == 0
	}, first, second)
	require.Subset(t, r.changes(), want, "nothing is left out")
	require.Equal(t, 1, r.peak)
	bodies := map[string]sent{}
	for i, s := range r.all() {
		before, again := bodies[s.ID]
		require.True(t, !again || fmt.Sprint(before) == fmt.Sprint(s), "a repeat is the same")
		require.True(t, !again || r.all()[i-1].ID == s.ID, "and comes before anything else")
		bodies[s.ID] = s
	}
}

func TestUndeliverableMessageBecomesADeadLetterAfterADay(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	var works atomic.Bool
	r := receive(t, func(sent) int {
		if works.Load() {
			return http.StatusOK
		}
		return http.StatusBadGateway
	})
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	b.claim(t, claim("one", "net", 32))
	pass(t, b, func() bool { return b.hookNow(t).Progress.Failures > 0 }, s)
	b.claim(t, claim("two", "net", 32))
	s.ahead.Add(int64(25 * time.Hour))
	pass(t, b, func() bool { return b.hookNow(t).DeadLetters == 1 }, s)
	works.Store(true)
	pass(t, b, func() bool {
		s.ahead.Add(int64(time.Second))
		return len(r.all()) >= 3 && b.hookNow(t).Progress.Failures == 0
	}, s)

	page, err := b.ListDeliveries(b.ctx, project, "hook", 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	dead := page.Items[0]
	require.Equal(t, &ipam.SendError{Reason: "status", Status: http.StatusBadGateway, At: dead.DeadAt}, dead.Error)
	tried := 0
	for _, m := range r.all() {
		if m.ID == dead.ID.String() {
			tried++
		}
	}
	require.GreaterOrEqual(t, tried, 2)
	require.Equal(t, tried, dead.Attempts)
	_, err = b.RetryDelivery(b.ctx, project, "hook", dead.ID, usecase.Request{})
	require.NoError(t, err)
	pass(t, b, func() bool { s.ahead.Add(int64(time.Second)); return b.hookNow(t).DeadLetters == 0 }, s)
	all := r.all()
	require.Equal(t, all[0], all[len(all)-1], "it is sent as it was")
	require.Equal(t, dead.ID.String(), all[0].ID)
}

func TestGoneReceiverStopsTheWebhook(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	n := 0
	r := receive(t, func(sent) int {
		if n++; n == 1 {
			return http.StatusGone
		}
		return http.StatusOK
	})
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}})
	b.claim(t, claim("one", "net", 32))
	pass(t, b, func() bool { return b.hookNow(t).State() == "Stopped" }, s)
	require.Equal(t, ipam.StoppedGone, b.hookNow(t).Stopped)
	require.NoError(t, b.changeHook(func(spec *ipam.WebhookSpec) { spec.URL = r.URL + "/elsewhere" }))
	pass(t, b, func() bool { return len(r.all()) >= 2 }, s)
	require.Equal(t, r.all()[0], r.all()[1])
}

func TestResumedWebhookContinuesAtItsPosition(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{"IPClaim"}, Paused: true})
	b.claim(t, claim("one", "net", 32))
	taken, err := s.DeliverWebhooks(b.ctx)
	require.NoError(t, err)
	require.Zero(t, taken)
	require.NoError(t, b.changeHook(func(spec *ipam.WebhookSpec) { spec.Paused = false }))
	pass(t, b, func() bool { return len(r.changes()) == 1 }, s)
}

func TestExpiredCursorSendsAResync(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL})
	_, err := b.sql(t).Exec(b.ctx, "DELETE FROM feed")
	require.NoError(t, err)
	pass(t, b, func() bool { s.ahead.Add(int64(time.Second)); return len(r.all()) > 0 }, s)
	require.True(t, r.all()[0].Resync)
	b.claim(t, claim("one", "net", 32))
	pass(t, b, func() bool { s.ahead.Add(int64(time.Second)); return len(r.changes()) > 0 }, s)
}
