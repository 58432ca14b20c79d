package crdb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// chaos runs workers that claim and release blocks of one pool. They use two servers, and the database fails at random.
type chaos struct {
	workers, each int
	seed          uint64
	twin          func(storage.Store) storage.Store // wraps the store of both servers; nil: no wrapper
	keyless       bool                              // the workers send no Idempotency-Key
	dialogue      []pgfault.Rule                    // makes PostgreSQL behave like another engine; nil: no change
}

// ledger records the results that the workers got.
type ledger struct {
	mu      sync.Mutex
	entries map[string]*entry // by the name of the claim
	wrong   []string          // unexpected errors
	seen    *ends
	ops     int
}

// entry records the state of one claim, as the workers know it.
type entry struct {
	told  state
	claim ipam.Claim // as the worker got it
}

type state string

const (
	isHeld     state = "held"
	isReleased state = "released"
	isAbsent   state = "absent" // refused with "Nothing was changed."
	isUnsure   state = "unsure"
)

// randomFaults returns the faults of a run. Of the COMMITs, 6 % are refused, 6 % lose their response, and 6 % are lost before they arrive. Another 4
// % have an ambiguous result, and half of these commit. Of the other statements, 2 % meet a server that shuts down. Some faults occur for certain, at
// the beginning.
func randomFaults(seed uint64) []pgfault.Rule {
	return []pgfault.Rule{
		pgfault.First(3, pgfault.CommittedAnswerLost()), pgfault.First(3, pgfault.LostBeforeCommit()),
		pgfault.Probability(0.06, seed, pgfault.CommitSerializationFailure()),
		pgfault.Probability(0.06, seed, pgfault.Named("CommittedAnswerLost by chance", pgfault.CommittedAnswerLost())),
		pgfault.Probability(0.06, seed, pgfault.Named("LostBeforeCommit by chance", pgfault.LostBeforeCommit())),
		pgfault.Probability(0.02, seed, pgfault.CommitAmbiguous40003()),
		pgfault.Probability(0.02, seed, pgfault.RolledBackAmbiguous40003()),
		pgfault.Probability(0.02, seed, pgfault.On(pgfault.Statement, pgfault.Drain57P01())),
	}
}

// run runs the workers. It returns their ledger, and a server that uses the same database without faults.
func (c chaos) run(t *testing.T) (*ledger, *house) {
	t.Helper()
	dbtest.OnPostgres(t)
	dsn := dbtest.New(t)
	direct := newHouse(t, dsn)
	direct.createPool(t, rootPool("pool", chaosPool))
	proxy, err := pgfault.Start(context.Background(), dsn, c.dialogue...)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	l := &ledger{entries: map[string]*entry{}, seen: &ends{}}
	var servers []*alloc.Service
	for range 2 {
		var store storage.Store = open(t, planned(t, proxy.DSN()), func(o *crdb.Options) { o.OnAttempt = l.seen.watch })
		if c.twin != nil {
			store = c.twin(store)
		}
		servers = append(servers, alloc.New(store, alloc.Options{Region: region, Webhooks: hooked}))
	}
	proxy.SetRules(append(randomFaults(c.seed), c.dialogue...)...)
	ctx := admin(t)
	var wg sync.WaitGroup
	for w := range c.workers {
		wg.Go(func() { c.work(ctx, l, servers[w%len(servers)], w, rand.New(rand.NewPCG(c.seed, uint64(w)))) })
	}
	wg.Wait()
	require.NoError(t, ctx.Err())
	require.Greater(t, total(proxy.Injected()), 6, "there was a storm")
	t.Logf("injected: %v", proxy.Injected())
	return l, direct
}

const chaosPool = "10.0.0.0/20"

// work makes the requests of one worker. It records each result, and the next requests depend on it.
func (c chaos) work(ctx context.Context, l *ledger, svc *alloc.Service, worker int, r *rand.Rand) {
	var mine []string
	for i := range c.each {
		if len(mine) == 0 || r.IntN(5) < 3 {
			name := fmt.Sprintf("w%d-%d", worker, i)
			request := keyOf(name)
			if c.keyless {
				request = usecase.Request{}
			}
			got, err := svc.CreateClaim(ctx, project, claimOf(name, project, "pool", 28+r.IntN(5)), request)
			if l.note(name, got.Value, isHeld, isAbsent, err) {
				mine = append(mine, name)
			}
			continue
		}
		k := r.IntN(len(mine))
		name := mine[k]
		mine = append(mine[:k], mine[k+1:]...)
		l.note(name, ipam.Claim{}, isReleased, isHeld, svc.DeleteClaim(ctx, project, name, usecase.Request{}))
	}
}

func keyOf(name string) usecase.Request {
	return usecase.Request{Key: "key-of-" + name, Fingerprint: [16]byte{1}}
}

// note records the result of a request. done is the state after a success, and undone is the state after a refusal that changed nothing. ok reports a
// success.
func (l *ledger) note(name string, c ipam.Claim, done, undone state, err error) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ops++
	e := l.entries[name]
	if e == nil {
		e = &entry{claim: c}
		l.entries[name] = e
	}
	switch ipam.CodeOf(err) {
	case "":
		e.told = done
	case ipam.CodeContention, ipam.CodeUnavailable:
		e.told = undone
	case ipam.CodeOutcomeUnknown, ipam.CodeDeadline:
		e.told = isUnsure
	default:
		e.told = isUnsure
		l.wrong = append(l.wrong, fmt.Sprintf("answer: %s to be %s: %v", name, done, err))
	}
	return err == nil
}
