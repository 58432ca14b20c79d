package proof_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOutageReleasesNoBlockOfALivePod tests scenario 57 with shorter times. A renewal comes every two seconds and a pod expires after sixty. Each
// outage lasts six seconds and affects the API server, Carve, both, or the controllers.
func TestOutageReleasesNoBlockOfALivePod(t *testing.T) {
	w := begin(t, 16)
	w.ttl = time.Minute
	fleet := []*controller{w.runs(t, "one"), w.runs(t, "other")}
	var lives []*life
	start := func(what string, n int) {
		for i := range n {
			lives = append(lives, w.starts(t.Context(), fmt.Sprintf("%s-%d", what, i), "node", 1, i%2 == 0))
		}
	}
	start("first", 8)
	w.nothing(t, w.settles(t.Context(), patience(16)))
	for name, away := range map[string]struct {
		api, carve bool
		signal     syscall.Signal
	}{
		"api-server": {api: true}, "carve": {carve: true}, "both": {api: true, carve: true}, "controller": {signal: syscall.SIGSTOP},
	} {
		for p, cut := range map[*proxy]bool{w.toAPI: away.api, w.toCarve: away.carve} {
			if cut {
				p.cut()
			}
		}
		if away.signal != 0 {
			for _, c := range fleet {
				c.signal(away.signal)
			}
		}
		w.removes(t.Context(), lives[0])
		w.removes(t.Context(), lives[1])
		lives = lives[2:]
		start(name, 2)
		<-time.After(6 * time.Second)
		w.toAPI.join()
		w.toCarve.join()
		if away.signal != 0 {
			for _, c := range fleet {
				c.kill()
			}
		}
		began := time.Now()
		w.nothing(t, w.settles(t.Context(), patience(16)))
		t.Logf("settled %s after an outage of %s", time.Since(began).Round(100*time.Millisecond), name)
	}
	w.nothing(t, w.judges(t))
	w.neverComesBack(t, fleet)
	w.runs(t, "late")
	w.drains(t.Context(), t, 16)
}

// neverComesBack stops the controllers for good, and requires that Carve then releases all blocks.
func (w *world) neverComesBack(t *testing.T, fleet []*controller) {
	t.Helper()
	for _, c := range fleet {
		c.stop()
	}
	held, err := w.held(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, held)
	require.Eventually(t, func() bool {
		held, err := w.held(t.Context())
		return err == nil && len(held) == 0
	}, 10*time.Minute, 500*time.Millisecond)
}

// TestControllerKilledAtAnyCallResumes tests scenario 58: a pod starts and ends, and the test kills the controller at one of its writes. In turn it
// loses the request of the first write, its response, the request of the second write, and so on, until the controller makes no more writes.
func TestControllerKilledAtAnyCallResumes(t *testing.T) {
	w := begin(t, 16)
	c := w.runs(t, "only", "--leader-elect=false")
	points := 0
	for killed := true; killed; points++ {
		require.Less(t, points, 100)
		var writes, kills atomic.Int32
		at := int32(points) + 1
		die := func() bool {
			if writes.Add(1) != at {
				return false
			}
			c.kill()
			kills.Add(1)
			return true
		}
		w.toAPI.tells(die)
		w.toCarve.tells(die)
		pod := w.starts(t.Context(), "web-0", "node", 1, true)
		w.nothing(t, w.settles(t.Context(), patience(16)))
		w.removes(t.Context(), pod)
		w.nothing(t, w.settles(t.Context(), patience(16)))
		killed = kills.Load() > 0
	}
	t.Logf("killed at %d points", points-1)
	require.Greater(t, points, 10)
	w.nothing(t, w.judges(t))
}

// TestOldLeaderBesideTheNewOneDoesNoHarm tests scenario 59: a controller works although another one leads. It also stops now and then, so that its
// cache is old.
func TestOldLeaderBesideTheNewOneDoesNoHarm(t *testing.T) {
	w := begin(t, 40)
	w.toAPI.lags(500 * time.Millisecond)
	w.runs(t, "new")
	old := w.runs(t, "old", "--leader-elect=false")
	s := &storm{world: w, slots: 40, nodes: 8, rate: 40, length: 10 * time.Second}
	s.losses.Store(10)
	over, cancel := context.WithCancel(t.Context())
	still := make(chan struct{})
	go func() {
		defer close(still)
		for over.Err() == nil {
			for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
				old.signal(signal)
				<-time.After(700 * time.Millisecond)
			}
		}
	}()
	s.rages(t.Context())
	cancel()
	<-still
	w.nothing(t, w.settles(t.Context(), patience(40)))
	w.nothing(t, w.judges(t))
	w.drains(t.Context(), t, 40)
}

// BenchmarkPodToBlock measures the time from the creation of a pod that requests a claim until the claim's status has the block. Beside it, it
// measures the time that the API server needs to create the pod. It creates PROOF_RATE pods a second (50):
//
//	go test -run - -bench PodToBlock -benchtime 3000x ./internal/proof
func BenchmarkPodToBlock(b *testing.B) {
	w := begin(b, b.N)
	w.runs(b, "only")
	w.starts(b.Context(), "warm", "node", 1, true)
	w.nothing(b, w.settles(b.Context(), patience(1)))
	pace := time.NewTicker(time.Second / time.Duration(asked(b, "PROOF_RATE", 50)))
	defer pace.Stop()
	begun, pods, made := make([]time.Time, b.N), make([]*life, b.N), make([]time.Duration, b.N)
	var players sync.WaitGroup
	b.ResetTimer()
	for i := range b.N {
		<-pace.C
		players.Go(func() {
			begun[i] = time.Now()
			pods[i], made[i] = w.timed(b.Context(), fmt.Sprintf("pod-%d", i))
		})
	}
	players.Wait()
	w.nothing(b, w.settles(b.Context(), patience(b.N)))
	b.StopTimer()
	var bound []time.Duration
	w.mu.Lock()
	for i, l := range pods {
		for _, s := range l.seen {
			bound = append(bound, s.since.Sub(begun[i]))
		}
	}
	w.mu.Unlock()
	for what, times := range map[string][]time.Duration{"create-pod": made, "pod-to-block": bound} {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, what+"-p50-ms")
		b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, what+"-p95-ms")
	}
	w.drains(b.Context(), b, b.N)
}
