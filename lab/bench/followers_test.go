package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// BenchmarkFollowers claims and releases over HTTP with 32 clients. It compares three cases in turn: no follower, one follower of the whole project,
// and 1,000 followers of one claim each. The clients use 32 of these claims. It reports the pairs of claim and release per second without followers,
// the fraction of that rate with followers, and the changes that the server sent per pair.
func BenchmarkFollowers(b *testing.B) {
	const clients, turns, turn = 32, 4, 3 * time.Second
	dsn := dbtest.New(b)
	server := serve(b, dsn, "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-reads=0")
	root := server.as(bootstrap(b, dsn))
	project, c := root.settle(b, 1)
	ways := []struct {
		name        string
		followers   []string // the query of each follower
		pairs, told int64
	}{{name: "none"}, {name: "one-of-all", followers: []string{""}}, {name: "thousand-of-one"}}
	for i := range 1000 {
		ways[2].followers = append(ways[2].followers, fmt.Sprintf("?resourceName=c%d", i))
	}
	b.ResetTimer()
	for range b.N {
		for n := range turns {
			for w := range ways {
				follower := c.as(root.key(b, project, fmt.Sprintf("%s-%d", ways[w].name, n))) // the followers of the previous turn may still be leaving
				told, leave := follower.follow(b, project, ways[w].followers)
				pairs, err := c.pairs(b.Context(), project, obj{"poolRef": obj{"name": "default"}}, clients, turn)
				leave()
				require.NoError(b, err)
				ways[w].pairs += pairs
				ways[w].told += told.Load()
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(ways[0].pairs)/(float64(b.N*turns)*turn.Seconds()), "pairs/s")
	for _, w := range ways[1:] {
		b.ReportMetric(float64(w.pairs)/float64(ways[0].pairs), w.name+"/none")
		b.ReportMetric(float64(w.told)/float64(w.pairs), w.name+"-told/pair")
	}
}

// follow opens one stream of a project's changes for each query and counts the changes. It returns when all streams have begun. leave ends them.
func (c *caller) follow(t testing.TB, project string, queries []string) (told *atomic.Int64, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	told = &atomic.Int64{}
	beginning := make(chan struct{}, 16) // the limit of concurrent requests of one caller
	var all, begun sync.WaitGroup
	for _, query := range queries {
		begun.Add(1)
		all.Go(func() {
			began := sync.OnceFunc(begun.Done)
			defer began()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.addr+"/v1/projects/"+project+"/changes"+query, nil)
			require.NoError(t, err)
			r.Header.Set("Accept", "text/event-stream")
			r.Header.Set("Authorization", "Bearer "+c.token)
			beginning <- struct{}{}
			answer, err := c.http.Do(r)
			<-beginning
			if ctx.Err() != nil {
				return
			}
			require.NoError(t, err)
			defer answer.Body.Close()
			require.Equal(t, http.StatusOK, answer.StatusCode)
			began()
			for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "event: change") {
					told.Add(1)
				}
			}
		})
	}
	begun.Wait()
	return told, func() { cancel(); all.Wait() }
}
