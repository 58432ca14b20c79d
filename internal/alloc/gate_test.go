package alloc_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// gate is a store that can stop the next transaction of one operation at its beginning. The transaction continues when the test lets it. It does not
// stop other transactions.
type gate struct {
	storage.Store
	op string

	mu      sync.Mutex
	shut    bool
	arrived chan struct{}
	open    chan struct{}
}

func newGate(store storage.Store, op string) *gate { return &gate{Store: store, op: op} }

// close makes the gate stop the next transaction of the operation. It does not stop the transactions after that.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.arrived, g.open = true, make(chan struct{}), make(chan struct{})
}

// pass lets the stopped transaction continue.
func (g *gate) pass() { close(g.open) }

// InTx implements storage.Store.
func (g *gate) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	g.stop(op)
	return g.Store.InTx(ctx, op, locks, fn)
}

// InOneRoundTrip implements storage.Store.
func (g *gate) InOneRoundTrip(
	ctx context.Context, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) error,
) error {
	g.stop(op)
	return g.Store.InOneRoundTrip(ctx, op, locks, sent, fn)
}

// stop waits until the transaction may continue.
func (g *gate) stop(op string) {
	g.mu.Lock()
	stop := g.shut && op == g.op
	if stop {
		g.shut = false
	}
	arrived, open := g.arrived, g.open
	g.mu.Unlock()
	if stop {
		close(arrived)
		<-open
	}
}

// gated is a service that can stop a claim transaction. Meanwhile, its methods put requests into the queue for the next transaction.
type gated struct {
	*bundle
	gate     *gate
	attempts *attempts
	pool     ipam.Pool

	wg   sync.WaitGroup
	late []*outcome // in the order of the queue
}

// outcome is the result of a request in the background, after its group has finished.
type outcome struct {
	claim ipam.Claim
	err   error
}

// setupGated makes a pool, and stops the transaction of a first claim. Later requests wait for the next transaction.
func setupGated(t *testing.T, p ipam.Pool, first ipam.Claim) *gated {
	t.Helper()
	g := &gated{bundle: setup(t)}
	g.pool = g.bundle.pool(t, p)
	store, seen := g.store(t)
	g.attempts = seen
	g.gate = newGate(store, "claim_group")
	g.Service = g.serve(g.gate)
	g.hold(t, func(ctx context.Context) (ipam.Claim, error) {
		r, err := g.CreateClaim(ctx, project, first, usecase.Request{})
		return r.Value, err
	})
	return g
}

// hold starts a request on the pool, and stops it at the beginning of its transaction.
func (g *gated) hold(t *testing.T, request func(context.Context) (ipam.Claim, error)) *outcome {
	t.Helper()
	g.gate.close()
	o := g.start(g.ctx, request)
	<-g.gate.arrived
	return o
}

func (g *gated) start(ctx context.Context, request func(context.Context) (ipam.Claim, error)) *outcome {
	o := &outcome{}
	g.wg.Go(func() { o.claim, o.err = request(ctx) })
	return o
}

// queue starts requests one after another. It waits until each request is in the queue for the pool's next transaction.
func (g *gated) queue(t *testing.T, requests ...func(context.Context) (ipam.Claim, error)) {
	t.Helper()
	for _, request := range requests {
		g.queueIn(g.ctx, t, request)
	}
}

func (g *gated) queueIn(ctx context.Context, t *testing.T, request func(context.Context) (ipam.Claim, error)) {
	t.Helper()
	before := g.Waiting(g.pool.UID)
	o := g.start(ctx, request)
	g.late = append(g.late, o)
	waitFor(t, func() bool { return g.Waiting(g.pool.UID) > before })
}

// patience is the time limit for an event that must happen. Only a failing test waits that long.
const patience = time.Minute

// waitFor yields until a condition is true.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for begun := time.Now(); !so(); runtime.Gosched() {
		if time.Since(begun) > patience {
			t.Fatal("what the test waits for does not happen")
		}
	}
}

// finish lets the stopped transaction continue, and waits for all results.
func (g *gated) finish() []*outcome {
	g.gate.pass()
	g.wg.Wait()
	return g.late
}

func (g *gated) claiming(c ipam.Claim, r usecase.Request) func(context.Context) (ipam.Claim, error) {
	return func(ctx context.Context) (ipam.Claim, error) {
		got, err := g.CreateClaim(ctx, project, c, r)
		return got.Value, err
	}
}

func (g *gated) releasing(name string) func(context.Context) (ipam.Claim, error) {
	return func(ctx context.Context) (ipam.Claim, error) {
		return ipam.Claim{}, g.DeleteClaim(ctx, project, name, usecase.Request{})
	}
}
