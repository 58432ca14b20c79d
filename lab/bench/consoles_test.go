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

// BenchmarkConsoles claims and releases over HTTP with 32 clients. It compares two cases in turn: without consoles, and with 50 consoles that show
// the claimed pool. It reports the pairs of claim and release per second without consoles, the fraction of that rate with consoles, and the requests
// per second of a console.
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

// look shows the project's pool in each of the given consoles. It returns when all consoles follow the changes. leave closes them.
func look(t testing.TB, project string, open []*caller) (sent *atomic.Int64, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	sent = &atomic.Int64{}
	beginning := make(chan struct{}, 8) // the server would refuse more concurrent requests
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

// show behaves like the page of a pool (console/src/live.ts). It waits for changes and then reads the pool and its map again. It does so at most once
// a second, or every 5 seconds after many changes.
func (c *caller) show(ctx context.Context, project string, sent *atomic.Int64, began func()) error {
	const limit = 50
	live, cursor := false, ""
	for ctx.Err() == nil {
		query := fmt.Sprintf("?limit=%d", limit)
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
		if len(told.Items) >= limit {
			cursor, pause = "", 5*time.Second // after many changes, the console skips them and continues from now
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

// ask reads a path. If the context ends, it returns no error.
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
