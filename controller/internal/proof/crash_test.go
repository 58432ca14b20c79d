package proof_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// crashAPIServer kills the API server and starts it again. Until then it cuts off the controllers and the test.
func (w *world) crashAPIServer(ctx context.Context, t testing.TB) {
	t.Helper()
	w.toAPI.cut() // without the cut, clients would dial a port without a listener, and such a dial can connect to itself
	defer w.toAPI.join()
	w.own.cut()
	defer w.own.join()
	if assert.NoError(t, servers.CrashAPIServer()) {
		assert.NoError(t, servers.RestartAPIServer(ctx))
	}
}

// crashCarve kills Carve's server with its database, and starts it again. Until then it cuts off the controllers.
func (w *world) crashCarve(t testing.TB) {
	t.Helper()
	w.toCarve.cut()
	defer w.toCarve.join()
	if assert.NoError(t, servers.CrashCarve()) {
		assert.NoError(t, servers.RestartCarve())
	}
}

// havoc makes the controllers, the API server, Carve and the connections between them fail in turn, until the context ends. It returns the number of
// failures of each kind.
func (w *world) havoc(ctx context.Context, t testing.TB, every time.Duration, fleet ...*controller) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for i := 0; ctx.Err() == nil; i++ {
		some := fleet[rand.IntN(len(fleet))]
		pause := func(d time.Duration) {
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
		}
		what := []string{"controller killed", "API server killed", "controller stopped for longer than its lease", "Carve killed", "all controllers killed",
			"controllers cut off from the API server", "controllers cut off from Carve", "controllers cut off from both"}[i%8]
		switch i % 8 {
		case 0:
			some.kill()
		case 1:
			w.crashAPIServer(context.WithoutCancel(ctx), t)
		case 2:
			some.signal(syscall.SIGSTOP)
			pause(lease + time.Second)
			some.signal(syscall.SIGCONT)
		case 3:
			w.crashCarve(t)
		case 4:
			for _, c := range fleet {
				c.kill()
			}
		case 5, 6, 7:
			w.severs(pause, i%8 != 6, i%8 != 5)
		}
		counts[what]++
		pause(every)
	}
	return counts
}

// severs cuts the controllers off from the API server, from Carve, or from both, for two seconds.
func (w *world) severs(pause func(time.Duration), api, carve bool) {
	var both sync.WaitGroup
	for p, cut := range map[*proxy]bool{w.toAPI: api, w.toCarve: carve} {
		if cut {
			p.cut()
			both.Go(func() { pause(2 * time.Second); p.join() })
		}
	}
	both.Wait()
}
