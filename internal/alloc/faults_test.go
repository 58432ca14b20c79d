package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// fault is the outcome of one transaction.
type fault string

const (
	lostBefore fault = "LostBeforeCommit" // not committed; the response is lost
	lostAfter  fault = "LostAfterCommit"  // committed; the response is lost
	landsLate  fault = "LandsLate"        // committed, but only after the server has searched for the outcome
	panics     fault = "Panics"
)

// faulty is a store that ends its next transactions with the given faults, in this order.
type faulty struct {
	storage.Store

	mu     sync.Mutex
	faults []fault
	late   func() error // the transaction that commits late
}

func (f *faulty) next(faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

func (f *faulty) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.faults)
}

// InOneRoundTrip implements storage.Store. If the next transaction loses its COMMIT or commits late, the caller must use InTx instead.
func (f *faulty) InOneRoundTrip(
	ctx context.Context, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) error,
) error {
	f.mu.Lock()
	now, late := fault(""), f.late
	if len(f.faults) > 0 {
		now = f.faults[0]
	}
	f.mu.Unlock()
	if late != nil || now != "" && now != lostAfter {
		return storage.ErrCacheMiss
	}
	err := f.Store.InOneRoundTrip(ctx, op, locks, sent, fn)
	if err == nil && now == lostAfter {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.faults = f.faults[1:]
		return lost()
	}
	return err
}

// InTx implements storage.Store.
func (f *faulty) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	f.mu.Lock()
	var now fault
	if len(f.faults) > 0 {
		now, f.faults = f.faults[0], f.faults[1:]
	}
	late := f.late
	f.late = nil
	if now == landsLate {
		f.late = func() error { return f.Store.InTx(context.WithoutCancel(ctx), op, locks, fn) }
	}
	f.mu.Unlock()
	if late != nil {
		if err := late(); err != nil {
			return err
		}
	}
	switch now {
	case landsLate:
		return lost()
	case lostBefore:
		undone := errors.New("undone")
		if err := f.Store.InTx(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error { return errors.Join(fn(ctx, tx), undone) }); err == nil {
			return undone
		}
		return lost()
	case lostAfter:
		if err := f.Store.InTx(ctx, op, locks, fn); err != nil {
			return err
		}
		return lost()
	case panics:
		panic("arithmetic that does not add up")
	}
	return f.Store.InTx(ctx, op, locks, fn)
}

func lost() error { return ipam.Errorf(ipam.CodeOutcomeUnknown, "The database did not say.") }

// If the response to a COMMIT is lost and the use case still reports success, the change has taken effect exactly once.
func TestUnknownOutcomeIsResolvedByReading(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]fault{{lostBefore}, {lostAfter}, {lostBefore, lostAfter}, {lostBefore, lostBefore, lostAfter}, {landsLate}, {lostBefore, landsLate}} {
		name := ""
		for _, f := range faults {
			name += string(f)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			store, _ := b.store(t)
			f := &faulty{Store: store}
			b.Service = b.serve(f)
			step := func(what string, run func() error) {
				t.Helper()
				f.next(faults...)
				require.NoError(t, run(), what)
				require.Zero(t, f.left(), what)
			}
			step("CreateProject", func() error {
				_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, key("project", ""))
				return err
			})
			step("CreateSpace", func() error {
				_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, key("space", ""))
				return err
			})
			step("CreatePool", func() error {
				r, err := b.CreatePool(b.ctx, project, root("net", "10.0.0.0/24", reserving(ipam.Reservation{Last: 1})), key("root", ""))
				require.Equal(t, "255", r.Value.Stock.Available(32).String())
				return err
			})
			step("CreateChildPool", func() error {
				_, err := b.CreatePool(b.ctx, project, child("sub", "net", 28), key("child", ""))
				return err
			})
			step("PatchPool", func() error {
				_, err := b.patch("net", usecase.Request{}, reserving(ipam.Reservation{Last: 2}))
				return err
			})
			step("CreateClaim", func() error {
				r, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32, retain), key("claim", ""))
				require.Equal(t, 32, r.Value.Block.Bits())
				return err
			})
			step("PatchClaim", func() error { _, err := b.patchClaim("c", usecase.Request{}, withLabels("a", "b")); return err })
			made, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
			require.NoError(t, err)
			step("DeleteClaim", func() error { return b.DeleteClaim(b.ctx, project, "c", usecase.Request{}) })
			step("Rebind", func() error {
				_, err := b.CreateClaim(b.ctx, project, again("d", made.AllocationID, retain), key("rebind", ""))
				return err
			})
			step("DeleteRebound", func() error { return b.DeleteClaim(b.ctx, project, "d", usecase.Request{}) })
			step("DeleteAllocation", func() error {
				return b.DeleteAllocation(b.ctx, project, made.AllocationID.String(), usecase.Request{})
			})
			step("CreateClaimBatch", func() error {
				_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("e", "net", 32), claim("f", "sub", 32)}, key("batch", ""))
				return err
			})
			require.Equal(t, "237", b.available(t, "net"), "each once: 256 less 2 reserved, 16 in the child, 1 claimed")
			require.Equal(t, "15", b.available(t, "sub"))
			step("DeleteLast", func() error { return b.DeleteClaim(b.ctx, project, "f", usecase.Request{}) })
			step("DeletePool", func() error { return b.DeletePool(b.ctx, project, "sub", usecase.Request{}) })
			step("DeleteSpace", func() error { return b.DeleteSpace(b.ctx, project, "blue", usecase.Request{}) })
			step("PatchProject", func() error {
				_, err := b.PatchProject(b.ctx, "umbrella", usecase.Request{}, func(p ipam.Project) (ipam.Project, error) {
					p.Spec.DisplayName = "Umbrella"
					return p, nil
				})
				return err
			})
			step("DeleteProject", func() error { return b.DeleteProject(b.ctx, "umbrella", usecase.Request{}) })
			require.Equal(t, "253", b.available(t, "net"))
		})
	}
}

// The outcome of the first attempt is unknown, and the second attempt gets a refusal. The cause may be that the first attempt has committed. So the
// server must check before it returns the refusal.
func TestRefusalAfterAnUnknownOutcomeIsVerified(t *testing.T) {
	t.Parallel()
	for _, fault := range []fault{lostAfter, landsLate} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/32"))
			store, _ := b.store(t)
			f := &faulty{Store: store}
			s := b.serve(f)
			f.next(fault)
			r, err := s.CreateClaim(b.ctx, project, claim("c", "net", 32), usecase.Request{})
			require.NoError(t, err, "the pool is full: of this very claim")
			require.Equal(t, block("10.0.0.0/32"), r.Value.Block)
			f.next(fault)
			_, err = s.CreatePool(b.ctx, project, root("other", "10.1.0.0/16"), usecase.Request{})
			require.NoError(t, err, "the block is taken: by this very pool")
			f.next(fault)
			require.NoError(t, s.DeleteClaim(b.ctx, project, "c", usecase.Request{}), "the claim is gone: by this very release")
			f.next(fault)
			require.NoError(t, s.DeletePool(b.ctx, project, "other", ifAny), "the pool is gone: by this very deletion")
		})
	}
}

// The outcome of a release is unknown, and then the claim is missing. Another caller may have released it. Only the release that took effect may
// report success.
func TestReleaseByAnotherCallerIsNotReportedAsOwn(t *testing.T) {
	t.Parallel()
	for name, many := range map[string]int{"Alone": 0, "BehindOthers": 101} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/32"))
			store, _ := b.store(t)
			o := &overtaken{Store: store}
			s := b.serve(o)
			_, err := s.CreateClaim(b.ctx, project, claim("c", "net", 32), usecase.Request{})
			require.NoError(t, err)
			others := func() {
				for i := range many {
					b.claim(t, claim(fmt.Sprint("next-", i), "net", 32))
					b.release(t, fmt.Sprint("next-", i))
				}
			}
			o.commits, o.then = false, func() { b.release(t, "c"); others() }
			refused(t, s.DeleteClaim(b.ctx, project, "c", usecase.Request{}), ipam.CodeNotFound)

			_, err = s.CreateClaim(b.ctx, project, claim("c", "net", 32), usecase.Request{})
			require.NoError(t, err)
			o.commits, o.then = true, func() {
				refused(t, b.DeleteClaim(b.ctx, project, "c", usecase.Request{}), ipam.CodeNotFound)
				others()
			}
			require.NoError(t, s.DeleteClaim(b.ctx, project, "c", usecase.Request{}), "its own has taken effect")
		})
	}
}

// overtaken is a store that reports an unknown outcome for its next transaction. Before the server can read the outcome, it calls then, in which
// another caller acts.
type overtaken struct {
	storage.Store

	commits bool
	then    func()
}

// InOneRoundTrip implements storage.Store.
func (o *overtaken) InOneRoundTrip(
	ctx context.Context, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) error,
) error {
	if o.then != nil {
		return storage.ErrCacheMiss
	}
	return o.Store.InOneRoundTrip(ctx, op, locks, sent, fn)
}

// InTx implements storage.Store.
func (o *overtaken) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	then := o.then
	if o.then = nil; then == nil || o.commits {
		if err := o.Store.InTx(ctx, op, locks, fn); err != nil || then == nil {
			return err
		}
	}
	then()
	return lost()
}

func TestOutcomeThatStaysUnknownIsReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	store, _ := b.store(t)
	f := &faulty{Store: store}
	s := b.serve(f)
	many := make([]fault, 20)
	for i := range many {
		many[i] = lostBefore
	}
	f.next(many...)
	_, err := s.CreatePool(b.ctx, project, child("sub", "net", 28), usecase.Request{})
	refused(t, err, ipam.CodeOutcomeUnknown)
	f.next(many...)
	_, err = s.CreateClaim(b.ctx, project, claim("c", "net", 32), usecase.Request{})
	refused(t, err, ipam.CodeOutcomeUnknown)
	require.Equal(t, "256", b.available(t, "net"))
}

// A request that no longer waits already has its result. If its group then fails, the group must not send a second result to this request.
func TestPanicInATransactionFailsOnlyItsMembers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	net := b.pool(t, root("net", "10.0.0.0/24"))
	store, _ := b.store(t)
	f := &faulty{Store: store}
	gate := newGate(f, "claim_group")
	g := &gated{bundle: b, gate: gate, pool: net}
	b.Service = b.serve(gate)
	first := g.hold(t, g.claiming(claim("first", "net", 32), usecase.Request{}))
	ctx, cancel := context.WithCancel(b.ctx)
	g.queueIn(ctx, t, g.claiming(claim("impatient", "net", 32), usecase.Request{}))
	g.queue(t, g.claiming(claim("a", "net", 32), usecase.Request{}), g.claiming(claim("b", "net", 32), usecase.Request{}))
	cancel()
	f.next("", panics)
	late := g.finish()
	require.NoError(t, first.err)
	refused(t, late[0].err, ipam.CodeDeadline)
	refused(t, late[1].err, ipam.CodeInternal)
	refused(t, late[2].err, ipam.CodeInternal)
	require.Equal(t, "255", b.available(t, "net"))
	b.claim(t, claim("next", "net", 32))
}
