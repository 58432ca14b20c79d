package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/lab/latency"
)

// The neighbourhood has projects that each claim and release once in a period. A further project sends ten times its limit.
const (
	neighbours = 100
	period     = 2 * time.Second
	phase      = 10 * time.Second
	allowance  = 10 // writes per second for each caller
	abuse      = 10 * allowance
)

// BenchmarkNeighbours claims over HTTP for 100 projects at a steady pace, with and without one more project. That project sends ten times its rate
// limit and has used up its quota. It reports the 95th percentile of the other projects' claims in both cases, and the ratio. The ratio of two
// measurements without the additional project shows the noise.
func BenchmarkNeighbours(b *testing.B) {
	dsn := dbtest.New(b)
	server := serve(b, dsn, "--auth=keys", fmt.Sprintf("--rate-limit-writes=%d", allowance), "--rate-limit-reads=0", "--rate-limit-anonymous=0")
	setup := serve(b, dsn, "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-reads=0")
	root := setup.as(bootstrap(b, dsn))
	n := &neighbourhood{}
	for i := range neighbours {
		project, c := root.settle(b, i)
		n.add(project, server.as(c.token))
	}
	project, c := root.settle(b, neighbours)
	root.create(b, http.MethodPut, "/"+project+"/quotas/none", obj{"spec": obj{"limits": obj{"claims": 0}}}, nil)
	abuser := tenant{project, server.as(c.token)}
	n.live(b, period) // opens connections, prepares statements and fills caches

	var alone, beside, again []time.Duration
	var limited, exhausted atomic.Int64
	b.ResetTimer()
	for range b.N {
		alone = append(alone, n.live(b, phase)...)
		ctx, stop := context.WithCancel(b.Context())
		var wg sync.WaitGroup
		wg.Go(func() { abuser.abuse(ctx, &limited, &exhausted) })
		beside = append(beside, n.live(b, phase)...)
		stop()
		wg.Wait()
		again = append(again, n.live(b, phase)...)
	}
	b.StopTimer()
	require.Positive(b, limited.Load(), "the abuse was limited")
	require.Positive(b, exhausted.Load(), "the quota was exhausted")
	before, after, afterwards := p95(alone), p95(beside), p95(again)
	both := p95(slices.Concat(alone, again))
	b.ReportMetric(0, "ns/op") // this figure has no meaning here
	b.ReportMetric(latency.Milliseconds(both), "p95-alone-ms")
	b.ReportMetric(latency.Milliseconds(after), "p95-beside-ms")
	b.ReportMetric(float64(after)/float64(both), "ratio")
	b.ReportMetric(float64(max(before, afterwards))/float64(min(before, afterwards)), "noise")
	b.ReportMetric(float64(limited.Load())/float64(b.N), "limited")
	report, err := audit.Run(b.Context(), dsn)
	require.NoError(b, err)
	require.Empty(b, report.Findings)
}

func p95(times []time.Duration) time.Duration { return latency.Percentile(times, 95) }

// tenant is a project with a caller.
type tenant struct {
	project string
	*caller
}

type neighbourhood struct {
	tenants []tenant
	round   atomic.Int64
}

func (n *neighbourhood) add(project string, c *caller) {
	n.tenants = append(n.tenants, tenant{project, c})
}

// live lets each tenant claim and release once in each period, at its own time. It returns the durations of the claims.
func (n *neighbourhood) live(b *testing.B, length time.Duration) []time.Duration {
	b.Helper()
	round := n.round.Add(1)
	begin := time.Now()
	times := make([][]time.Duration, len(n.tenants))
	var wg sync.WaitGroup
	for i, who := range n.tenants {
		wg.Go(func() {
			offset := period * time.Duration(i) / time.Duration(len(n.tenants))
			for turn := 0; time.Duration(turn)*period+offset < length; turn++ {
				<-time.After(time.Until(begin.Add(time.Duration(turn)*period + offset)))
				name := fmt.Sprintf("c-%d-%d", round, turn)
				sent := time.Now()
				status, err := who.claim(b.Context(), who.project, name)
				times[i] = append(times[i], time.Since(sent))
				if err != nil || status != http.StatusCreated {
					b.Errorf("%s: %d %v", who.project, status, err)
					return
				}
				if status, err := who.send(b.Context(), http.MethodDelete, "/"+who.project+"/claims/"+name, nil, nil); err != nil || status != http.StatusNoContent {
					b.Errorf("%s: %d %v", who.project, status, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return slices.Concat(times...)
}

// abuse sends ten times as many requests as the limit allows. It ignores the responses.
func (a tenant) abuse(ctx context.Context, limited, exhausted *atomic.Int64) {
	tick := time.NewTicker(time.Second / abuse)
	defer tick.Stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		wg.Go(func() {
			switch status, _ := a.claim(ctx, a.project, fmt.Sprintf("x-%d", i)); status { // a request that the end of the run cut off has no status
			case http.StatusTooManyRequests:
				limited.Add(1)
			case http.StatusConflict:
				exhausted.Add(1)
			}
		})
	}
}
