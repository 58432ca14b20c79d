package crdb_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestChaosDoublesLosesOrHidesNoClaim(t *testing.T) {
	t.Parallel()
	l, direct := chaos{workers: 8, each: 100, seed: 1}.run(t)
	require.Empty(t, l.violations(t, direct))
}

// The test repeats the run with servers that handle an unknown outcome in a tempting but wrong way. The checks must detect each of these. Otherwise
// the clean run above would prove nothing.
func TestChaosDetectsWrongHandlingOfUnknownOutcomes(t *testing.T) {
	t.Parallel()
	for name, twin := range map[string]struct {
		store func(storage.Store) storage.Store
		finds []string // at least one of these kinds
	}{
		// The retry is a new request. If the first attempt was committed, too, its block leaks.
		"BlindRetry": {func(s storage.Store) storage.Store { return blindRetry{s} }, []string{"unknown"}},
		// This server reports success for a block that no claim holds.
		"UnknownTakenAsCommitted": {func(s storage.Store) storage.Store { return guess{s, nil} }, []string{"told", "answer"}},
		// This server reports a refusal for a block that a claim holds.
		"UnknownTakenAsRolledBack": {func(s storage.Store) storage.Store {
			return guess{s, ipam.Errorf(ipam.CodeContention, "Nothing was changed; repeat the request.")}
		}, []string{"told"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, direct := chaos{workers: 4, each: 15, seed: 2, twin: twin.store, keyless: true}.run(t)
			found := kinds(l.violations(t, direct))
			t.Logf("found: %v", found)
			n := 0
			for _, kind := range twin.finds {
				n += found[kind]
			}
			require.NotZero(t, n)
		})
	}
}

// guess replaces an unknown outcome with a fixed result.
type guess struct {
	storage.Store
	answer error
}

func (g guess) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	err := g.Store.InTx(ctx, op, locks, fn)
	if ipam.IsCode(err, ipam.CodeOutcomeUnknown) {
		return g.answer
	}
	return err
}

// blindRetry retries a transaction that has an unknown outcome. Each retry uses new names and ids, so no unique index prevents a second change.
type blindRetry struct{ storage.Store }

func (b blindRetry) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	for suffix := ""; ; suffix += "-again" {
		err := b.Store.InTx(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error { return fn(ctx, freshIDs{tx, suffix}) })
		if !ipam.IsCode(err, ipam.CodeOutcomeUnknown) {
			return err
		}
	}
}

// freshIDs is a transaction that gives new names and ids to its claims.
type freshIDs struct {
	storage.Tx
	suffix string
}

func (f freshIDs) Write(ctx context.Context, ch storage.Changes) error {
	if f.suffix == "" {
		return f.Tx.Write(ctx, ch)
	}
	ch.StoredResponses = nil
	ch.ClaimInsert = slices.Clone(ch.ClaimInsert)
	for i := range ch.ClaimInsert {
		c := &ch.ClaimInsert[i]
		c.Name, c.UID, c.AllocationID = c.Name+f.suffix, ipam.NewID(), ipam.NewID()
	}
	return f.Tx.Write(ctx, ch)
}
