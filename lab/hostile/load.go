package hostile

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// patience is the time after which a request of the load counts as failed.
const patience = 20 * time.Second

// tally collects the outcomes of the load's requests.
type tally struct {
	mu        sync.Mutex
	beginning []time.Duration // times of requests that were due while the attack was being prepared
	times     []time.Duration
	failed    int
	anError   string
}

// load sends requests at a fixed rate, whether or not responses arrive. It runs while an attack is being prepared, and then for the duration during
// after the channel under is closed. When under closes, load calls settled, unless settled is nil. It measures each request from the moment at which
// the request was due.
func (s *server) load(ctx context.Context, o options, during time.Duration, under <-chan struct{}, settled func()) (*tally, error) {
	t := &tally{}
	var running sync.WaitGroup
	defer running.Wait()
	begun, end := time.Now(), time.Time{}
	if under == nil {
		end = begun.Add(during)
	}
	pace := time.NewTicker(time.Duration(float64(time.Second) / o.rate))
	defer pace.Stop()
	limit := time.After(during + 2*time.Minute)
	for n := 0; end.IsZero() || time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-limit:
			return t, fmt.Errorf("the attack was not under way within two minutes")
		case <-under:
			under, end = nil, time.Now().Add(during)
			if settled != nil {
				settled()
			}
		case due := <-pace.C:
			n++
			times := &t.times
			if under != nil {
				times = &t.beginning
			}
			running.Go(func() { s.ask(ctx, t, times, n, due) })
		}
	}
	return t, nil
}

// ask makes a claim or reads the caller's identity, in turn.
func (s *server) ask(ctx context.Context, t *tally, times *[]time.Duration, n int, due time.Time) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	method, path, body := http.MethodGet, "/v1/whoami", ""
	if n%2 == 0 {
		method, path = http.MethodPost, "/v1/projects/good/claims"
		pool := "pool"
		if n%4 == 0 {
			pool = "random"
		}
		body = fmt.Sprintf(`{"metadata":{"name":"c%d"},"spec":{"poolRef":{"name":%q},"prefixLength":32}}`, s.claims.Add(1), pool)
	}
	_, err := s.api.Do(ctx, method, path, body)
	took := time.Since(due)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed++
		t.anError = err.Error()
		return
	}
	*times = append(*times, took)
}
