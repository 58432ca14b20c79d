package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/devca"
)

var (
	loopback = Networks{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	secret   = Secret([]byte("a key of a test, of 32 bytes ..."), ipam.ID{1, 2, 3})
	sent     = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
)

func delivery(url string) Delivery {
	return Delivery{URL: url, ID: "msg_1", Secret: secret, At: sent, Body: []byte(`{"type":"changes"}`)}
}

// receive sends a delivery to a receiver that has this handler, and returns the outcome.
func receive(t *testing.T, handle http.HandlerFunc) Outcome {
	t.Helper()
	receiver := httptest.NewServer(handle)
	t.Cleanup(receiver.Close)
	c := NewClient(loopback)
	require.Equal(t, 10*time.Second, c.limit)
	c.limit = time.Hour // long, so that no test fails by this timeout on a slow machine
	return c.Send(t.Context(), delivery(receiver.URL))
}

func TestSecretDependsOnKeyAndWebhook(t *testing.T) {
	t.Parallel()
	require.Equal(t, "whsec_", secret[:6])
	require.Len(t, secret, 6+44)
	require.Equal(t, secret, Secret([]byte("a key of a test, of 32 bytes ..."), ipam.ID{1, 2, 3}))
	require.NotEqual(t, secret, Secret([]byte("another key"), ipam.ID{1, 2, 3}))
	require.NotEqual(t, secret, Secret([]byte("a key of a test, of 32 bytes ..."), ipam.ID{1, 2, 4}))
}

func TestDeliveryIsSignedAndDelivered(t *testing.T) {
	t.Parallel()
	key, err := webhooks.NewWebhook(secret)
	require.NoError(t, err)
	outcome := receive(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || key.VerifyIgnoringTimestamp(body, r.Header) != nil || string(body) != `{"type":"changes"}` {
			t.Error("not what was sent", err, r.Header, string(body))
		}
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Error(r.Method, r.Header)
		}
		if r.Header.Get("Webhook-Id") != "msg_1" || r.Header.Get("Webhook-Timestamp") != fmt.Sprint(sent.Unix()) {
			t.Error(r.Header)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	require.Equal(t, Outcome{Status: http.StatusNoContent}, outcome)
	require.True(t, outcome.Delivered())
	require.False(t, Outcome{}.Delivered())
	unsigned := delivery("https://hooks.example.com")
	unsigned.Secret = "whsec_?"
	require.Equal(t, Outcome{Reason: Unreachable}, NewClient(nil).Send(t.Context(), unsigned), "it is not sent without a signature")
}

func TestReceiverStatusDecidesTheOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status     int
		retryAfter string
		want       Outcome
	}{
		"Moved":               {301, "", Outcome{Status: 301, Reason: Redirect}},
		"MovedButKeepTheBody": {307, "", Outcome{Status: 307, Reason: Redirect}},
		"Gone":                {410, "", Outcome{Status: 410, Reason: Status, Gone: true}},
		"Broken":              {500, "", Outcome{Status: 500, Reason: Status}},
		"BusyForSeconds":      {500, "90", Outcome{Status: 500, Reason: Status, RetryAfter: 90 * time.Second}},
		"BusyUntil":           {503, sent.Add(5 * time.Minute).Format(http.TimeFormat), Outcome{Status: 503, Reason: Status, RetryAfter: 5 * time.Minute}},
		"BusyUntilBefore":     {503, sent.Add(-time.Minute).Format(http.TimeFormat), Outcome{Status: 503, Reason: Status}},
		"BusyForDays":         {429, "864000", Outcome{Status: 429, Reason: Status, RetryAfter: time.Hour}},
		"BusyUntilNextYear":   {429, sent.AddDate(1, 0, 0).Format(http.TimeFormat), Outcome{Status: 429, Reason: Status, RetryAfter: time.Hour}},
		"BusyForNonsense":     {429, "soon", Outcome{Status: 429, Reason: Status}},
		"BusyForLess":         {429, "-5", Outcome{Status: 429, Reason: Status}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			outcome := receive(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set("Retry-After", c.retryAfter)
				w.WriteHeader(c.status)
			})
			require.Equal(t, c.want, outcome)
			require.False(t, outcome.Delivered())
			require.EqualValues(t, 1, asked.Load(), "redirects are not followed, and nothing is sent twice")
		})
	}
}

func TestHangingReceiverTimesOut(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]http.HandlerFunc{
		"BeforeTheResponse": func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() },
		"AfterTheResponse": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receiver := httptest.NewServer(hang)
			t.Cleanup(receiver.Close)
			c := NewClient(loopback)
			c.limit = 100 * time.Millisecond
			want := Outcome{Reason: Timeout}
			if name == "AfterTheResponse" {
				c.limit = 5 * time.Second // the receiver responds within this time
				want = Outcome{Status: http.StatusOK}
			}
			require.Equal(t, want, c.Send(t.Context(), delivery(receiver.URL)))
			ended, end := context.WithCancel(t.Context())
			end()
			require.Equal(t, Outcome{Reason: Timeout}, c.Send(ended, delivery(receiver.URL)))
		})
	}
}

// If the receiver switches protocols, the client reads nothing more from the connection and closes it.
func TestProtocolSwitchEndsTheDelivery(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	outcome := receive(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(closed)
		_, _ = io.Copy(io.Discard, r.Body)
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, connection)
	})
	require.Equal(t, Outcome{Status: http.StatusSwitchingProtocols, Reason: Status}, outcome)
	<-closed
}

// If the body of a response never ends, the client stops reading and closes the connection. It refuses headers that never end.
func TestReceiverResponseIsReadUpToALimit(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	outcome := receive(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		part := make([]byte, 1<<16)
		for {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	require.True(t, outcome.Delivered())
	<-ended
	outcome = receive(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Large", strings.Repeat("a", 1<<20)) })
	require.Equal(t, Outcome{Reason: Unreachable}, outcome)
}

func TestFailedConnectionIsUnreachable(t *testing.T) {
	t.Parallel()
	require.Equal(t, Outcome{Reason: Unreachable}, receive(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.Equal(t, Outcome{Reason: Unreachable}, NewClient(loopback).Send(t.Context(), delivery("http://"+listener.Addr().String())))
}

func TestDeliveryIgnoresProxyVariables(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	resolver := newNames(t, map[string][]netip.Addr{"inside.example.": {netip.MustParseAddr("10.0.0.1")}})
	c := NewClient(loopback)
	c.plain.Resolver, c.secure.Resolver = resolver.Resolver, resolver.Resolver
	require.Equal(t, Outcome{Reason: Unresolved}, c.Send(t.Context(), delivery("http://inside.example")))
	require.Equal(t, Outcome{Reason: Unresolved}, c.Send(t.Context(), delivery("https://inside.example")))
}

func TestReceiverIsVerifiedByItsCertificate(t *testing.T) {
	t.Parallel()
	ca, err := devca.New("receivers")
	require.NoError(t, err)
	certificate, key, err := ca.Issue(devca.Leaf{Name: "receiver", Hosts: []string{"127.0.0.1"}})
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(certificate, key)
	require.NoError(t, err)
	serve := func(newest uint16) string {
		receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		receiver.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: newest}
		receiver.Config.ErrorLog = nil
		receiver.StartTLS()
		t.Cleanup(receiver.Close)
		return receiver.URL
	}
	current := serve(tls.VersionTLS13)
	c := NewClient(loopback)
	require.Equal(t, Outcome{Reason: TLS}, c.Send(t.Context(), delivery(current)), "an authority that nobody knows")
	c.config.RootCAs = ca.Pool()
	require.Equal(t, Outcome{Status: http.StatusOK}, c.Send(t.Context(), delivery(current)))
	require.Equal(t, Outcome{Reason: TLS}, c.Send(t.Context(), delivery(serve(tls.VersionTLS11))), "a version that is not safe")
	another := strings.Replace(current, "127.0.0.1", "localhost", 1)
	require.Equal(t, Outcome{Reason: TLS}, c.Send(t.Context(), delivery(another)), "the certificate is of another name")
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	require.Equal(t, Outcome{Reason: TLS}, c.Send(t.Context(), delivery(strings.Replace(plain.URL, "http:", "https:", 1))))
}
