package client_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestMain(m *testing.M) {
	if flags := os.Getenv(role); flags != "" {
		os.Exit(play(strings.Fields(flags)))
	}
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		return schema.Migrate(ctx, dsn, schema.MigrateOptions{Regions: []string{"local"}})
	}})
}

// again returns a listen address for a server that stops and later listens on the same port again. The address belongs to this machine, and no other
// program uses it. Only Linux has such an address without configuration.
func again() string {
	if runtime.GOOS == "linux" {
		return "127.0.0.2:0"
	}
	return "127.0.0.1:0"
}

// serve runs a server on a database until the test ends or stop is called. Every caller has the role admin.
func serve(t testing.TB, dsn string, flags ...string) (url string, stop func()) {
	t.Helper()
	a, stop := start(t, dsn, append([]string{"--auth=dev"}, flags...)...)
	return "http://" + a.Addr(), stop
}

func start(t testing.TB, dsn string, flags ...string) (a *app.App, stop func()) {
	t.Helper()
	key := filepath.Join(t.TempDir(), "webhook-key")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600))
	config, _, err := app.ParseConfig(append([]string{
		"--webhook-key-file=" + key,
		"--listen=127.0.0.1:0", "--database-url=" + dsn, "--request-timeout=60s", "--max-connections=4", "--log-level=error",
	}, flags...), nil)
	require.NoError(t, err)
	a, err = app.Start(t.Context(), config, t.Output())
	require.NoError(t, err)
	stop = sync.OnceFunc(func() { require.NoError(t, a.Close(context.WithoutCancel(t.Context()))) })
	t.Cleanup(stop)
	return a, stop
}

// between is a proxy that loses responses. The server carries out the request, and the proxy reads the whole response. Then the proxy cuts the
// connection, before the first byte of the response or in the middle of its body.
type between struct {
	*httptest.Server
	mu     sync.Mutex
	losses int // number of responses that the proxy still loses
	midway bool
	only   string   // the method that loses its responses; empty for any
	lost   [][]byte // bodies of the lost responses
	seen   []*http.Request
}

func putBetween(t testing.TB, target string) *between {
	t.Helper()
	b := &between{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.pass(t, target, w, r) }))
	t.Cleanup(b.Close)
	return b
}

// lose sets the number of the next responses that are lost. It can select the responses to one method. It also removes the recorded requests.
func (b *between) lose(n int, midway bool, only ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.losses, b.midway, b.only, b.lost, b.seen = n, midway, strings.Join(only, ""), nil, nil
}

// requests returns the requests since the last call of lose.
func (b *between) requests() []*http.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen
}

func (b *between) pass(t testing.TB, target string, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	req, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.RequestURI(), r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	req.Header, req.ContentLength = r.Header.Clone(), r.ContentLength
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		if r.Context().Err() == nil { // otherwise the client has closed the connection, because the test has ended
			t.Error(err)
		}
		return
	}
	b.mu.Lock()
	b.seen = append(b.seen, r)
	lose, midway := b.losses > 0 && (b.only == "" || b.only == r.Method), b.midway
	if lose {
		b.losses--
		b.lost = append(b.lost, text)
	}
	b.mu.Unlock()
	maps.Copy(w.Header(), resp.Header)
	if lose && !midway {
		panic(http.ErrAbortHandler)
	}
	if len(text) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	}
	w.WriteHeader(resp.StatusCode)
	if lose {
		_, _ = w.Write(text[:len(text)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(text)
}

// quick returns the default policy with short pauses. It gives an attempt enough time on a slow machine.
func quick() client.RetryPolicy {
	p := client.DefaultRetry()
	p.FirstPause, p.AttemptTimeout = time.Millisecond, 2*time.Minute
	return p
}

// world is a project with a pool, a client, and the proxy between client and server.
type world struct {
	*client.Carve
	*between
	direct string
}

func setup(t testing.TB, opts ...client.Option) world {
	t.Helper()
	direct, _ := serve(t, dbtest.New(t))
	b := putBetween(t, direct)
	c, err := client.New(b.URL, append([]client.Option{client.WithRetry(quick())}, opts...)...)
	require.NoError(t, err)
	_, err = c.CreateProject(t.Context(), client.ProjectCreate{Metadata: client.CreateMetadata{Name: "team-a"}})
	require.NoError(t, err)
	_, err = c.CreatePool(t.Context(), "team-a", client.IPPoolCreate{
		Metadata: client.CreateMetadata{Name: "prod"}, Spec: client.IPPoolSpec{CIDR: "10.20.0.0/16"},
	})
	require.NoError(t, err)
	return world{c, b, direct}
}

// claims lists all claims, directly from the server.
func (w world) claims(t testing.TB) []client.IPClaim {
	t.Helper()
	c, err := client.New(w.direct)
	require.NoError(t, err)
	return all(t, c.Claims(t.Context(), "team-a"))
}

func all[T any](t testing.TB, seq func(yield func(T, error) bool)) []T {
	t.Helper()
	var items []T
	for item, err := range seq {
		require.NoError(t, err)
		items = append(items, item)
	}
	return items
}

func fromProd(bits int) client.IPClaimSpec {
	return client.IPClaimSpec{PoolRef: &client.Ref{Name: "prod"}, PrefixLength: bits}
}
