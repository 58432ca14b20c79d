package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// ledger records the responses that clients got, by claim name.
type ledger struct {
	mu      sync.Mutex
	granted map[string]string // block by claim
	refused map[string]bool
	unknown int // requests without a response
	grants  chan struct{}
}

func newLedger(limit int) *ledger {
	return &ledger{granted: map[string]string{}, refused: map[string]bool{}, grants: make(chan struct{}, limit)}
}

// hoard claims blocks of a pool through one server, one after the other, until the pool is exhausted. If a request gets no response, it repeats the
// request as a PUT. Before each request it calls ready, which returns when the server runs.
func (l *ledger) hoard(ctx context.Context, t testing.TB, c *caller, who string, spec obj, ready func()) {
	t.Helper()
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("%s-%d", who, i)
		a, err := c.try(ctx, t, http.MethodPost, at("claims"), named(name, spec))
		for err != nil && ctx.Err() == nil {
			l.note(func() { l.unknown++ })
			ready()
			a, err = c.try(ctx, t, http.MethodPut, at("claims", name), obj{"spec": spec})
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		p, isProblem := problemOf(a)
		switch {
		case a.ok():
			l.note(func() { l.granted[name] = decode[client.IPClaim](t, a).Status.AllocatedCIDR })
			l.grants <- struct{}{}
		case isProblem && p.Code == "pool_exhausted":
			l.note(func() { l.refused[name] = true })
			return
		default:
			t.Errorf("%s: %d %s", name, a.status, a.body)
			return
		}
	}
}

func (l *ledger) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// await returns when n claims have been granted.
func (l *ledger) await(ctx context.Context, n int) {
	for range n {
		select {
		case <-l.grants:
		case <-ctx.Done():
			return
		}
	}
}

// holds requires that the state of the service matches the clients' responses. No block was granted twice, no acknowledged claim is lost, and no
// refused claim exists.
func (l *ledger) holds(t testing.TB, c *caller, blocks int) {
	t.Helper()
	owners := map[string]string{}
	for name, block := range l.granted {
		require.Empty(t, owners[block], "%s was given to %s and to %s", block, owners[block], name)
		owners[block] = name
	}
	require.Len(t, l.granted, blocks, "every block was handed out")
	listed := map[string]string{}
	for _, claim := range all[client.IPClaim](t, c, at("claims")) {
		listed[claim.Metadata.Name] = claim.Status.AllocatedCIDR
	}
	require.Equal(t, l.granted, listed)
	for name := range l.refused {
		require.NotContains(t, listed, name)
	}
}
