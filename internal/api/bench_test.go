package api_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
	"github.com/carve-ipam/carve/internal/telemetry"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// The benchmarks measure the cost of a request without its use case and its connection. They run all layers of the adapter, with API keys, limits,
// metrics and the access log. The use cases return at once, and the ResponseWriter only counts.

// instant implements use cases that return at once.
type instant struct {
	nobody
	claim ipam.Claim
	page  []ipam.Claim
}

func (s *instant) CreateClaim(context.Context, string, ipam.Claim, usecase.Request) (usecase.Result[ipam.Claim], error) {
	return usecase.Result[ipam.Claim]{Value: s.claim}, nil
}

func (s *instant) CreateClaimBatch(_ context.Context, _ string, claims []ipam.Claim, _ usecase.Request) (usecase.Result[[]ipam.Claim], error) {
	return usecase.Result[[]ipam.Claim]{Value: s.page[:len(claims)]}, nil
}

func (s *instant) GetClaim(context.Context, string, string, usecase.Reading) (ipam.Claim, error) {
	return s.claim, nil
}

func (s *instant) DeleteClaim(context.Context, string, string, usecase.Request) error { return nil }

func (s *instant) ListClaims(context.Context, string, paging.Filter, int, string, usecase.Reading) (paging.Page[ipam.Claim], error) {
	return paging.Page[ipam.Claim]{Items: s.page, Next: "bmV4dA"}, nil
}

// oneKey is a database with one API key.
type oneKey struct{ key ipam.APIKey }

func (s oneKey) KeyByID(_ context.Context, id ipam.ID) (ipam.APIKey, bool, error) {
	return s.key, id == s.key.UID, nil
}
func (oneKey) MemberRoles(context.Context, string) (map[string]tenancy.Held, error) { return nil, nil }
func (oneKey) Now() time.Time                                                       { return time.Now() }
func (oneKey) KeysUsed(context.Context, map[ipam.ID]time.Time) error                { return nil }

// sink is a ResponseWriter that discards the response.
type sink struct {
	header http.Header
	status int
}

func (w *sink) Header() http.Header       { return w.header }
func (w *sink) WriteHeader(status int)    { w.status = status }
func (*sink) Write(p []byte) (int, error) { return len(p), nil }

// bench is the whole adapter, with the request headers of a caller that has a key.
type bench struct {
	handler http.Handler
	header  http.Header
}

func newBench(b *testing.B, change func(*api.Config)) bench {
	b.Helper()
	s := script()
	page := make([]ipam.Claim, 100)
	for i := range page {
		page[i] = s.claim
		page[i].Block = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 20, 1, byte(i)}), 32)
	}
	id := ipam.NewID()
	token, secret := tenancy.NewToken(id)
	keyring := tenancy.NewKeyring(oneKey{ipam.APIKey{
		Metadata: ipam.Metadata{Name: "bench", Project: "team-a", UID: id}, Hash: tenancy.HashSecret(secret),
		Spec: ipam.APIKeySpec{Role: string(tenancy.Consumer)},
	}}, nil)
	metrics, err := telemetry.New(b.Context(), telemetry.Options{Env: func(string) string { return "" }})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, metrics.Shutdown(context.Background())) })
	const plenty = 1_000_000_000
	cfg := api.Config{
		Service: &instant{claim: s.claim, page: page}, Authenticator: auth.Combined{Keys: keyring},
		Log:   slog.New(slog.NewTextHandler(io.Discard, nil)), //nolint:sloglint // what a line costs is part of it
		Meter: metrics, Metrics: metrics.Handler(),
		Limits: limits.Limits{
			Reads: ratelimit.New("reads", plenty, ratelimit.Options{}), Writes: ratelimit.New("writes", plenty, ratelimit.Options{}),
			Anonymous: ratelimit.New("anonymous", plenty, ratelimit.Options{}), Refusals: ratelimit.New("refusals", plenty, ratelimit.Options{}),
		},
	}
	change(&cfg)
	return bench{handler: api.New(cfg), header: http.Header{
		"User-Agent": {"bench"}, "Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
	}}
}

// run sends the same request repeatedly. The measurement includes the construction of the request and of the writer. BenchmarkEmptyHandler measures
// that cost alone.
func (p bench) run(b *testing.B, method, target, body string, want int) {
	b.Helper()
	at, err := url.Parse(target)
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background()) // like the server's context, it can end
	defer cancel()
	payload := []byte(body)
	w := &sink{}
	ask := func() {
		u := *at
		r := &http.Request{
			Method: method, URL: &u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: "127.0.0.1:8080", RequestURI: target,
			RemoteAddr: "127.0.0.1:40000", Header: p.header.Clone(), Body: http.NoBody,
		}
		if body != "" {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(payload)), int64(len(payload))
		}
		*w = sink{header: make(http.Header, 16)}
		p.handler.ServeHTTP(w, r.WithContext(ctx))
	}
	ask()
	require.Equal(b, want, w.status)
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		ask()
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// processorTime returns the CPU time of the process, including the garbage collector. On a busy machine it is more reliable than the elapsed time.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const (
	benchClaim = `{"metadata":{"name":"w-0-000001"},"spec":{"poolRef":{"name":"bench"},"prefixLength":32}}`
	benchFull  = `{"metadata":{"name":"w-0-000001","labels":{"app.kubernetes.io/name":"web","env":"prod"},"annotations":{"example.com/ticket":"NET-1"}},` +
		`"spec":{"className":"standard","scope":{"cluster":"web-eu"},"ipFamily":"IPv4","prefixLength":28,"reclaimPolicy":"Delete","ownerRef":{"kind":"Cluster","name":"web","uid":"1"}}}`
)

func BenchmarkEmptyHandler(b *testing.B) {
	p := newBench(b, func(*api.Config) {})
	p.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
	})
	p.run(b, "POST", claimsPath, benchClaim, http.StatusCreated)
}

func BenchmarkCreateClaim(b *testing.B) {
	newBench(b, func(*api.Config) {}).run(b, "POST", claimsPath, benchClaim, http.StatusCreated)
}

// BenchmarkCreateClaimWithKey measures the request that clients send most.
func BenchmarkCreateClaimWithKey(b *testing.B) {
	p := newBench(b, func(*api.Config) {})
	p.header["Idempotency-Key"] = []string{"8e03978e-40d5-43e8-bc93-6894a57f9324"}
	p.run(b, "POST", claimsPath, benchClaim, http.StatusCreated)
}

func BenchmarkCreateClaimByClass(b *testing.B) {
	newBench(b, func(*api.Config) {}).run(b, "POST", claimsPath, benchFull, http.StatusCreated)
}

func BenchmarkCreateClaimBatch100(b *testing.B) {
	var body bytes.Buffer
	for range 100 {
		if body.Len() > 0 {
			body.WriteByte(',')
		}
		body.WriteString(benchClaim)
	}
	newBench(b, func(*api.Config) {}).run(b, "POST", "/v1/projects/team-a/claim-batches", `{"claims":[`+body.String()+`]}`, http.StatusCreated)
}

func BenchmarkGetClaim(b *testing.B) {
	newBench(b, func(*api.Config) {}).run(b, "GET", claimsPath+"/c", "", http.StatusOK)
}

func BenchmarkDeleteClaim(b *testing.B) {
	newBench(b, func(*api.Config) {}).run(b, "DELETE", claimsPath+"/c", "", http.StatusNoContent)
}

func BenchmarkListClaims(b *testing.B) {
	newBench(b, func(*api.Config) {}).run(b, "GET", claimsPath+"?limit=100&pool=p", "", http.StatusOK)
}

// BenchmarkRefusedClaim measures a body that violates the contract, with the text of the error.
func BenchmarkRefusedClaim(b *testing.B) {
	newBench(b, func(*api.Config) {}).run(b, "POST", claimsPath, `{"metadata":{"name":"w-0-000001"},"spec":{"prefixLength":129}}`, http.StatusBadRequest)
}
