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

// The same run against servers that deal with an unknown outcome as one might think of it first. The checks must find out: else
// that they find nothing above means nothing.
func TestChaosDetectsWrongHandlingOfUnknownOutcomes(t *testing.T) {
	t.Parallel()
	for name, twin := range map[string]struct {
		store func(storage.Store) storage.Store
		finds []string // at least one of these kinds
	}{
		// tries again, and what it tries is a new request: blocks leak
		"BlindRetry": {func(s storage.Store) storage.Store { return blindRetry{s} }, []string{"unknown"}},
		// takes it for done: blocks are promised that nobody holds
		"UnknownTakenAsCommitted": {func(s storage.Store) storage.Store { return guess{s, nil} }, []string{"told", "answer"}},
		// takes it for not done, and says so: blocks are held that nobody knows of
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

// guess answers an unknown outcome by a guess.
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

// blindRetry runs a transaction again when its outcome is unknown, under names and ids of that run alone, as somebody does who
// makes them inside of the transaction: nothing that is unique is the same.
type blindRetry struct{ storage.Store }

func (b blindRetry) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	for suffix := ""; ; suffix += "-again" {
		err := b.Store.InTx(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error { return fn(ctx, freshIDs{tx, suffix}) })
		if !ipam.IsCode(err, ipam.CodeOutcomeUnknown) {
			return err
		}
	}
}

// freshIDs is a transaction whose claims get names and ids of their own.
type freshIDs struct {
	storage.Tx
	suffix string
}

func (f freshIDs) Write(ctx context.Context, ch storage.Changes) error {
	if f.suffix == "" {
		return f.Tx.Write(ctx, ch)
	}
	ch.Answers = nil
	ch.ClaimInsert = slices.Clone(ch.ClaimInsert)
	for i := range ch.ClaimInsert {
		c := &ch.ClaimInsert[i]
		c.Name, c.UID, c.AllocationID = c.Name+f.suffix, ipam.NewID(), ipam.NewID()
	}
	return f.Tx.Write(ctx, ch)
}
