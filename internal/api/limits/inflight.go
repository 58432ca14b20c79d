package limits

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/carve-ipam/carve/internal/ipam"
)

// InFlight bounds the requests that are worked on at once. Who finds no place waits a moment for one, and is refused then. The wait is not there to
// serve more: a refusal costs the reading and writing of a request, which at several times of what a server can do is most of what it does. A
// connection that is answered a moment later asks less often. A nil InFlight has no bound.
type InFlight struct {
	places chan struct{} // one element for each request that has a place
	share  int           // of the places, for the requests of one caller
	wait   time.Duration

	seed maphash.Seed
	mu   sync.Mutex
	held map[uint64]int // requests by caller that have a place or wait for one; who has none is not in it

	waiting, full, greedy atomic.Int64
	said                  rate.Sometimes
}

// Load is what an InFlight has to say for itself.
type Load struct {
	Now, Max int64 // requests that have a place, and that can have one
	Waiting  int64 // requests that wait for one, or to be refused
	Full     int64 // requests that found none, since the start
	Greedy   int64 // requests of callers that had their share, since the start
}

// sayEvery is how often the log says at most that requests find no place.
const sayEvery = 10 * time.Second

// The answers to who finds no place.
var (
	errFull   = ipam.Errorf(ipam.CodeUnavailable, "The server works on as many requests as it can. Nothing was changed; repeat the request when Retry-After has passed.")
	errGreedy = ipam.Errorf(ipam.CodeRateLimited, "Too many requests at once: half of those that the server works on are this caller's. Nothing was changed; repeat the request when Retry-After has passed.")
)

// maxWaiting bounds who waits at once. It is the connection that costs, some 20 kB, and that is there anyway.
const maxWaiting = 16384

// NewInFlight makes a bound of so many requests; one caller may have half of them. Who finds no place waits for one, for a time. It answers nil
// for 0: no bound.
func NewInFlight(most int, wait time.Duration) *InFlight {
	if most <= 0 {
		return nil
	}
	return &InFlight{
		places: make(chan struct{}, most), share: max(1, most/2), wait: wait, seed: maphash.MakeSeed(), held: map[uint64]int{}, said: rate.Sometimes{Interval: sayEvery},
	}
}

// Load says what is going on now.
func (f *InFlight) Load() Load {
	if f == nil {
		return Load{}
	}
	return Load{Now: int64(len(f.places)), Max: int64(cap(f.places)), Waiting: f.waiting.Load(), Full: f.full.Load(), Greedy: f.greedy.Load()}
}

// Enter takes a place, which leave gives back, or answers why there is none.
//
// Callers are told apart by the credentials that they send, whether or not those are valid: whoever does not know a caller's credentials
// cannot take its places, and finding out more would cost what is to be saved. Who sends none is refused soon, or is everybody, in development mode.
func (f *InFlight) Enter(ctx context.Context, credentials string) (leave func(), refused *ipam.Error) {
	if credentials == "" {
		if !f.place(ctx) {
			return nil, errFull
		}
		return func() { <-f.places }, nil
	}
	caller := maphash.String(f.seed, credentials)
	if !f.enterAs(caller) {
		f.greedy.Add(1)
		f.await(ctx, nil)
		return nil, errGreedy
	}
	if !f.place(ctx) {
		f.leaveAs(caller)
		return nil, errFull
	}
	return func() { <-f.places; f.leaveAs(caller) }, nil
}

// NowAndThen is how often somebody is told that requests find no place: not of each of them.
func (f *InFlight) NowAndThen(tell func()) { f.said.Do(tell) }

// place takes a place, now or within the wait.
func (f *InFlight) place(ctx context.Context) bool {
	select {
	case f.places <- struct{}{}:
		return true
	default:
	}
	if f.await(ctx, f.places) {
		return true
	}
	f.full.Add(1)
	return false
}

// await lets the wait pass, unless there is room in the channel before, or the caller goes away, or too many wait.
func (f *InFlight) await(ctx context.Context, room chan<- struct{}) bool {
	defer f.waiting.Add(-1)
	if f.waiting.Add(1) > maxWaiting || f.wait <= 0 {
		return false
	}
	over := time.NewTimer(f.wait)
	defer over.Stop()
	select {
	case room <- struct{}{}:
		return true
	case <-over.C:
	case <-ctx.Done():
	}
	return false
}

// enterAs counts one more request of a caller, that has a place or waits for one, unless it has its share.
func (f *InFlight) enterAs(caller uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held[caller] >= f.share {
		return false
	}
	f.held[caller]++
	return true
}

func (f *InFlight) leaveAs(caller uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held[caller]--; f.held[caller] == 0 {
		delete(f.held, caller)
	}
}

type placeKey struct{}

// WithPlace lets a request give its place back before it ends: leave is called once.
func WithPlace(ctx context.Context, leave func()) context.Context {
	return context.WithValue(ctx, placeKey{}, leave)
}

// LeavePlace gives the place of a request back that waits for others from now on, and does not work.
func LeavePlace(ctx context.Context) {
	if leave, ok := ctx.Value(placeKey{}).(func()); ok {
		leave()
	}
}
