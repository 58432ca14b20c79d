package overload

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/carve-ipam/carve/lab/procstat"
)

// saturation measures the server's capacity in requests per second. Each client sends its next request immediately after a response.
func saturation(ctx context.Context, s *server, o options) (result, error) {
	if _, err := hurry(ctx, s, o, o.closed, o.time/5); err != nil { // makes connections, database plans and caches
		return result{}, err
	}
	r, err := hurry(ctx, s, o, o.closed, o.time)
	if err == nil && r.Served == 0 {
		err = errors.New("the server serves nothing")
	}
	return r, err
}

// hurry runs clients without pauses. Each client sends its next request immediately after a response.
func hurry(ctx context.Context, s *server, o options, clients int, during time.Duration) (result, error) {
	used, err := s.spent()
	if err != nil {
		return result{}, err
	}
	t := tally{begun: time.Now()}
	var running sync.WaitGroup
	end := t.begun.Add(during)
	for range clients {
		running.Go(func() {
			c := client{addr: s.addr}
			defer c.close()
			for now := time.Now(); now.Before(end) && ctx.Err() == nil; now = time.Now() {
				t.ask(ctx, s, &c, now, now.Add(o.patience))
			}
		})
	}
	running.Wait()
	r := t.result(during)
	now, err := s.spent()
	r.processor(now.since(used))
	return r, errors.Join(err, ctx.Err())
}

// offer sends requests at a fixed rate for a time, whether or not responses arrive. It uses a limited number of connections. It measures each request
// from the moment at which the request was due, so that the times include waits for a free connection of the generator.
func offer(ctx context.Context, s *server, o options, kept []client, rate float64) (result, error) {
	refused, err := s.refused(ctx)
	if err != nil {
		return result{}, err
	}
	used, err := s.spent()
	if err != nil {
		return result{}, err
	}
	arrivals := make(chan time.Time)
	t := tally{begun: time.Now()}
	var running sync.WaitGroup
	for i := range kept {
		running.Go(func() {
			for at := range arrivals {
				t.ask(ctx, s, &kept[i], at, at.Add(o.patience))
			}
		})
	}
	due := 0
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	for time.Since(t.begun) < o.time && ctx.Err() == nil {
		for ; due < int(rate*time.Since(t.begun).Seconds()); due++ {
			at := t.begun.Add(time.Duration(float64(due) / rate * float64(time.Second)))
			select {
			case arrivals <- at:
			default:
				t.unsent++
			}
		}
		<-pace.C
	}
	close(arrivals)
	running.Wait()
	r := t.result(o.time)
	r.Offered = float64(due) / o.time.Seconds()
	now, err := s.spent()
	r.processor(now.since(used))
	after, failed := s.refused(ctx)
	err = errors.Join(err, failed)
	r.Reasons = map[string]int{}
	for reason, n := range after {
		r.Reasons[reason] = n - refused[reason]
	}
	if memory, _, failed := procstat.Memory(s.pid); failed == nil {
		r.Memory = memory
	}
	return r, errors.Join(err, ctx.Err())
}

// tally collects the outcomes of requests.
type tally struct {
	begun    time.Time
	mu       sync.Mutex
	served   []time.Duration
	shed     []time.Duration
	errors   int
	unsent   int // only the sender changes this field
	anError  string
	finished time.Time // of the last served request
}

// ask sends one request and records its outcome.
func (t *tally) ask(ctx context.Context, s *server, c *client, at, until time.Time) {
	head, body, wanted := s.request()
	status, err := c.exchange(ctx, head, body, until)
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && status == wanted:
		t.served, t.finished = append(t.served, now.Sub(at)), now
	case err == nil && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests):
		t.shed = append(t.shed, now.Sub(at))
	default:
		t.errors++
		if err == nil {
			err = fmt.Errorf("answered %d", status)
		}
		t.anError = err.Error()
	}
}

// result computes the figures. Some requests are still waiting when the measured time ends, and the server serves them later. So the rate is the
// number of served requests divided by the time until the last of them.
func (t *tally) result(during time.Duration) result {
	t.mu.Lock()
	defer t.mu.Unlock()
	took := max(during, t.finished.Sub(t.begun))
	return result{
		Goodput: float64(len(t.served)) / took.Seconds(), Served: len(t.served), Shed: len(t.shed), Errors: t.errors, Unsent: t.unsent, AnError: t.anError,
		P50: milliseconds(t.served, 50), P99: milliseconds(t.served, 99), ShedP99: milliseconds(t.shed, 99),
	}
}
