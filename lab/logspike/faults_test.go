package logspike

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errLost = errors.New("the connection is lost")

// A server whose answers are lost must find out what was written, and must never answer wrongly.
func TestLostAnswersAreResolved(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"insert: before", "insert: after"} {
		w := newWorld(t, "10.0.0.0/24")
		lose := atomic.Bool{}
		e := w.engine(Options{Sweep: -1, Hook: func(s string) error {
			if s == step && lose.Swap(false) {
				return errLost
			}
			return nil
		}})
		for i := range 5 {
			lose.Store(true)
			holds, err := e.Submit(t.Context(), w.request(Claim{Name: fmt.Sprint(i), Length: 32}))
			require.NoError(t, err, step)
			require.Equal(t, fmt.Sprintf("10.0.0.%d/32", i), holds[0].Block.String(), step)
		}
		require.Len(t, w.audit(), 5)
	}
}

// Any statement may be lost, before or after it reaches the database.
func TestAnyLostStatementIsSurvived(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.0.0.0/22")
	w.quotaOf(1000)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(5, 5))
	servers := start(w, Options{SaveAfter: 30, PagesPerPool: 2, Sweep: 20 * time.Millisecond, Hook: func(string) error {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(8) == 0 {
			return errLost
		}
		return nil
	}}, 2)
	must, unsure := storm(w, servers, 40)
	verify(w, must, unsure)
}

// A server may die between any two statements. Its requests end without an answer, and a new server takes over.
func TestKilledServersLoseNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.0.0.0/22")
	w.quotaOf(1000)
	var calls atomic.Int64
	servers := make([]*atomic.Pointer[Engine], 2)
	var replace func(i int) *Engine
	replace = func(i int) *Engine {
		var dead atomic.Bool
		var e *Engine
		ready := make(chan struct{})
		e = New(w.db, Options{SaveAfter: 30, PagesPerPool: 2, Sweep: 20 * time.Millisecond, Hook: func(string) error {
			<-ready
			if dead.Load() {
				return errLost
			}
			if calls.Add(1)%37 == 0 {
				dead.Store(true)
				servers[i].Store(replace(i))
				e.stop() // as a killed process, it sends nothing more
				return errLost
			}
			return nil
		}})
		close(ready)
		return e
	}
	for i := range servers {
		servers[i] = &atomic.Pointer[Engine]{}
		servers[i].Store(replace(i))
		t.Cleanup(func() { servers[i].Load().Close() })
	}
	must, unsure := storm(w, servers, 40)
	verify(w, must, unsure)
	require.Greater(t, calls.Load(), int64(37*3), "servers were killed")
}

// A server that stopped for a long time must not write from its old cache, because the log rows that it missed may be deleted. The log row before its
// own is missing too, and that prevents it.
func TestOldCachesAreNotUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.0.0.0/24")
	stale, other := w.engine(Options{Sweep: -1}), w.engine(Options{Sweep: -1})
	for i, e := range []*Engine{stale, other, other} {
		block := netip.MustParsePrefix([]string{"10.0.0.0/32", "10.0.0.9/32", "10.0.0.1/32"}[i])
		_, err := e.Submit(t.Context(), w.request(Claim{Name: fmt.Sprint(i), Block: block}))
		require.NoError(t, err)
	}
	for range 2 { // the sweeper deletes log rows that two snapshots contain
		p := other.pools[w.pools[0]]
		p.save(t.Context())
		require.Eventually(t, func() bool { return !p.saving.Load() }, time.Minute, time.Millisecond)
	}
	_, err := w.db.Exec(t.Context(), "DELETE FROM entries WHERE kind = 0 AND seq < 3")
	require.NoError(t, err)
	holds, err := stale.Submit(t.Context(), w.request(Claim{Name: "late", Length: 32}))
	require.NoError(t, err)
	require.Equal(t, "10.0.0.2/32", holds[0].Block.String())
	require.Len(t, w.audit(), 4)
}

// A server releases a recent claim from memory. If another server has released the claim and given its name to another block, the log shows it.
func TestReleaseFromMemoryNoticesOtherServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.0.0.0/24", "10.1.0.0/24")
	first, second := w.engine(Options{Sweep: -1}), w.engine(Options{Sweep: -1})
	_, err := first.Submit(t.Context(), w.request(Claim{Name: "a", Length: 32}))
	require.NoError(t, err)
	release := Request{Project: w.project, Release: "a"}
	_, err = second.Submit(t.Context(), release)
	require.NoError(t, err)
	other := w.request(Claim{Name: "b", Length: 32})
	_, err = second.Submit(t.Context(), other)
	require.NoError(t, err, "it gets the block of a")
	_, err = first.Submit(t.Context(), release)
	require.Equal(t, NotFound, code(err))
	require.Contains(t, w.audit(), "b")
}
