package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// BenchmarkConsoles claims and releases over HTTP, 32 clients, in turn by themselves and beside 50 consoles that show the pool which is claimed from.
// It reports the pairs a second without consoles, what is reached of that beside them, and how many requests a console sends a second.
func BenchmarkConsoles(b *testing.B) {
	const clients, consoles, turns, turn = 32, 50, 2, 10 * time.Second
	dsn := dbtest.New(b)
	server := serve(b, dsn, "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-reads=0")
	root := server.as(bootstrap(b, dsn))
	project, c := root.settle(b, 1)
	open := make([]*caller, consoles)
	for i := range open {
		open[i] = c.as(root.key(b, project, fmt.Sprintf("console-%d", i)))
	}
	var without, beside, requests int64
	b.ResetTimer()
	for range b.N {
		for range turns {
			n, err := c.pairs(b.Context(), project, obj{"poolRef": obj{"name": "default"}}, clients, turn)
			require.NoError(b, err)
			without += n
			sent, leave := look(b, project, open)
			n, err = c.pairs(b.Context(), project, obj{"poolRef": obj{"name": "default"}}, clients, turn)
			leave()
			require.NoError(b, err)
			beside += n
			requests += sent.Load()
		}
	}
	b.StopTimer()
	seconds := float64(b.N*turns) * turn.Seconds()
	b.ReportMetric(float64(without)/seconds, "pairs/s")
	b.ReportMetric(float64(beside)/float64(without), "consoles/none")
	b.ReportMetric(float64(requests)/seconds/consoles, "requests/s-console")
}

// look shows the project's pool in each of these consoles, and answers once all follow the changes; leave closes them.
func look(t testing.TB, project string, open []*caller) (sent *atomic.Int64, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	sent = &atomic.Int64{}
	beginning := make(chan struct{}, 8) // all at once would be told to come again
	var all, begun sync.WaitGroup
	for _, c := range open {
		begun.Add(1)
		beginning <- struct{}{}
		all.Go(func() {
			began := sync.OnceFunc(func() { <-beginning; begun.Done() })
			defer began()
			require.NoError(t, c.show(ctx, project, sent, began))
		})
	}
	begun.Wait()
	return sent, func() { cancel(); all.Wait() }
}

// show does what console/src/live.ts and the page of a pool do: it waits for changes, asks again for the pool and its map, and does so
// once a second, or in 5 seconds where much changes.
func (c *caller) show(ctx context.Context, project string, sent *atomic.Int64, began func()) error {
	const most = 50
	live, cursor := false, ""
	for ctx.Err() == nil {
		query := fmt.Sprintf("?limit=%d", most)
		if live {
			query += "&waitSeconds=25"
		}
		if cursor != "" {
			query += "&after=" + cursor
		}
		var told struct {
			Items  []struct{}
			Cursor string
		}
		if err := c.ask(ctx, "/"+project+"/changes"+query, sent, &told); err != nil {
			return err
		}
		began()
		changed := len(told.Items) > 0
		live, cursor = true, told.Cursor
		pause := time.Second
		if len(told.Items) >= most {
			cursor, pause = "", 5*time.Second // who cannot keep up goes on from now
		}
		if !changed {
			continue
		}
		for _, page := range []string{"", "/map"} {
			if err := c.ask(ctx, "/"+project+"/pools/default"+page, sent, nil); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// ask reads something, unless its time is over.
func (c *caller) ask(ctx context.Context, path string, sent *atomic.Int64, into any) error {
	sent.Add(1)
	status, err := c.send(ctx, http.MethodGet, path, nil, into)
	select {
	case <-ctx.Done():
		return nil
	default:
	}
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s was answered %d", path, status)
	}
	return err
}
