package proof_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asked returns the number in an environment variable, or another number without the variable.
func asked(t testing.TB, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// TestLivePodsKeepTheirBlocksThroughAllFaults starts, moves and ends pods at random, and moves claims of machines between namespaces with other UIDs,
// while it kills, stops and cuts off everything else. PROOF_PODS, PROOF_NODES, PROOF_MACHINES, PROOF_RATE (steps a second), PROOF_SECONDS and PROOF_EVERY
// (seconds between failures) give it another size.
func TestLivePodsKeepTheirBlocksThroughAllFaults(t *testing.T) {
	pods := asked(t, "PROOF_PODS", 60)
	w := begin(t, pods)
	s := &storm{
		world: w, slots: pods, nodes: asked(t, "PROOF_NODES", 8), rate: asked(t, "PROOF_RATE", 50),
		length: time.Duration(asked(t, "PROOF_SECONDS", 20)) * time.Second, machines: make([]*machine, asked(t, "PROOF_MACHINES", 8)),
	}
	w.park(t)
	s.losses.Store(int32(max(15, pods/20)))
	w.toAPI.lags(500 * time.Millisecond)
	fleet := []*controller{w.runs(t, "one", "--cluster-api"), w.runs(t, "other", "--cluster-api")}

	ctx, end := context.WithTimeout(t.Context(), s.length+time.Hour)
	defer end()
	for place := range s.machines {
		s.machines[place] = w.arrives(ctx, fmt.Sprintf("machine-%d-0", place), place%2 == 0)
	}
	began := time.Now()
	w.nothing(t, w.until(ctx, patience(pods), w.unplaced)) // the first moves are in the storm
	t.Logf("each machine had its address after %s", time.Since(began).Round(time.Second))
	calm, rest := context.WithCancel(ctx)
	failed := make(chan map[string]int, 1)
	every := time.Duration(asked(t, "PROOF_EVERY", 1)) * time.Second
	go func() { failed <- w.havoc(calm, t, every, fleet...) }()
	s.rages(ctx)
	rest()
	failures := <-failed
	t.Logf("%d steps, %d pods, on %d nodes, and %d moves of machines; %v", s.steps.Load(), s.began.Load(), s.nodes, s.moved.Load(), failures)
	require.Positive(t, s.moved.Load())

	began = time.Now()
	s.movesEach(ctx)
	w.nothing(t, w.until(ctx, patience(pods), w.unplaced))
	t.Logf("%d moves of machines; the machines settled after %s", s.moved.Load(), time.Since(began).Round(time.Second))
	for _, c := range fleet {
		c.kill() // the next leader sweeps at once: a claim that ended during its move may still have its block
	}
	w.nothing(t, w.settles(ctx, patience(pods)))
	t.Logf("settled after %s", time.Since(began).Round(time.Second))
	w.quiet(t, min(s.length, time.Minute))
	w.nothing(t, w.judges(t))
	w.drains(ctx, t, pods)
}

// patience is the time in which a number of pods must reach the final state. Controllers delay a retry for up to a minute.
func patience(pods int) time.Duration {
	return 10*time.Minute + time.Duration(pods)*100*time.Millisecond
}

// expected reports whether a request may come when nothing changes. The controllers renew the pods, wait for the feed, compare IPPools with Carve,
// and keep the leader's lease.
func expected(what string) bool {
	return strings.HasPrefix(what, "WATCH ") || slices.Contains([]string{"POST consumer-renewals", "GET changes", "GET leases", "PUT leases", "GET pools"}, what)
}

// quiet requires that the controllers make no unexpected request for a time. It begins after twelve seconds without such a request, because a
// controller sends events that failed during an outage of the API server ten seconds later. It starts again after an unexpected request, up to ten
// times: a long retry delay or a new leader may be the cause. A request that the controllers repeat without end comes each time and fails the test.
func (w *world) quiet(t testing.TB, length time.Duration) {
	t.Helper()
	asked := func() map[string]int {
		all := w.toAPI.asked()
		maps.Copy(all, w.toCarve.asked())
		return all
	}
	only := func(what map[string]int) bool {
		for each := range what {
			if !expected(each) {
				return false
			}
		}
		return true
	}
	asked()
	for tries := 0; ; tries++ {
		<-time.After(12 * time.Second)
		all := asked()
		if only(all) {
			<-time.After(length)
			all = asked()
			if only(all) {
				t.Logf("in the steady state, in %s there were %v", length, all)
				require.GreaterOrEqual(t, all["POST consumer-renewals"], int(length/w.renew)/2, "a renewal takes time as well")
				return
			}
		}
		require.Less(t, tries, 10, "it never becomes quiet: %v", all)
	}
}

// drains ends all pods and machines, and requires that nothing of them remains.
func (w *world) drains(ctx context.Context, t testing.TB, pods int) {
	t.Helper()
	w.mu.Lock()
	lives := slices.Collect(maps.Values(w.lives))
	w.mu.Unlock()
	var players sync.WaitGroup
	for some := range slices.Chunk(lives, len(lives)/many+1) {
		players.Go(func() {
			for _, l := range some {
				if l.ended.IsZero() {
					w.removes(ctx, l)
				}
			}
		})
	}
	for _, m := range w.living() {
		w.goes(ctx, m)
	}
	players.Wait()
	w.nothing(t, w.settles(ctx, patience(pods)))
}
