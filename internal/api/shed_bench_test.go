package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// BenchmarkShed measures a request that the server refuses because no slot is free.
func BenchmarkShed(b *testing.B) {
	full := limits.NewInFlight(1, 0)
	end, begun := make(chan struct{}), make(chan struct{})
	h := api.New(api.Config{Service: nobody{}, Authenticator: blocking{begun, end}, InFlight: full, Meter: &silent{}, Log: slog.New(slog.DiscardHandler)})
	go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(b.Context(), "GET", poolsPath+"/p", http.NoBody))
	<-begun
	defer close(end)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), "POST", poolsPath, strings.NewReader(`{"metadata":{"name":"x"}}`))
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// blocking blocks every request until the end of the benchmark.
type blocking struct{ begun, end chan struct{} }

func (f blocking) Authenticate(*http.Request) (tenancy.Principal, error) {
	f.begun <- struct{}{}
	<-f.end
	return tenancy.Principal{}, nil
}

// silent is a meter that records nothing.
type silent struct{}

func (*silent) RequestServed(context.Context, string, string, string, int, time.Duration) {}
