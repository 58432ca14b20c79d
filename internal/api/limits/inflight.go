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

// InFlight limits concurrent requests. A request that finds no slot waits a moment for one before it is refused. The wait does not let the server
// serve more requests. It slows down clients that repeat refused requests at once. When the load is several times the capacity, the server would
// otherwise do little but read and refuse requests. A nil InFlight has no limit.
type InFlight struct {
	slots chan struct{} // one element for each request with a slot
	share int           // slots that one caller may have
	wait  time.Duration

	seed maphash.Seed
	mu   sync.Mutex
	// held counts, by caller, the requests that have a slot or wait for one. A caller without requests has no entry.
	held map[uint64]int

	waiting, full, callerRefusals atomic.Int64
	logLimit                      rate.Sometimes
}

// Load is an InFlight's current state.
type Load struct {
	Now, Max int64 // requests with a slot, and their limit
	Waiting  int64 // requests that wait for a slot or for their refusal
	Full     int64 // requests refused because all slots were taken, since the start
	Greedy   int64 // requests refused because their caller had used its share, since the start
}

// logEvery is the minimum interval between log lines about refused requests.
const logEvery = 10 * time.Second

// The errors for requests without a slot.
var (
	errFull        = ipam.Errorf(ipam.CodeUnavailable, "The server has reached its limit of concurrent requests. Nothing was changed; repeat the request when Retry-After has passed.")
	errCallerLimit = ipam.Errorf(ipam.CodeRateLimited, "Too many requests at once: this caller uses half of the server's limit already. Nothing was changed; repeat the request when Retry-After has passed.")
)

// maxWaiting limits the waiting requests. A waiting request needs only its connection, which has some 20 kB and exists in any case.
const maxWaiting = 16384

// NewInFlight returns an InFlight. limit is the number of concurrent requests, and one caller may have half of them. maxWait is the longest time that
// a request waits for a slot. If limit is 0, NewInFlight returns nil, which has no limit.
func NewInFlight(limit int, maxWait time.Duration) *InFlight {
	if limit <= 0 {
		return nil
	}
	return &InFlight{
		slots: make(chan struct{}, limit), share: max(1, limit/2), wait: maxWait, seed: maphash.MakeSeed(), held: map[uint64]int{}, logLimit: rate.Sometimes{Interval: logEvery},
	}
}

// Load returns the current state.
func (f *InFlight) Load() Load {
	if f == nil {
		return Load{}
	}
	return Load{Now: int64(len(f.slots)), Max: int64(cap(f.slots)), Waiting: f.waiting.Load(), Full: f.full.Load(), Greedy: f.callerRefusals.Load()}
}

// Enter takes a slot and returns leave, which returns the slot. If there is no slot, it returns the error for the caller.
//
// Enter identifies a caller by the credentials in the request, even if they are not valid. Validation would cost the work that the limit saves. Only
// a client that knows a caller's credentials can use the caller's share. A request without credentials counts for no caller, because authentication
// soon refuses it, unless the server is in development mode.
func (f *InFlight) Enter(ctx context.Context, credentials string) (leave func(), refused *ipam.Error) {
	if credentials == "" {
		if !f.enterSlot(ctx) {
			return nil, errFull
		}
		return func() { <-f.slots }, nil
	}
	caller := maphash.String(f.seed, credentials)
	if !f.enterAs(caller) {
		f.callerRefusals.Add(1)
		f.await(ctx, nil)
		return nil, errCallerLimit
	}
	if !f.enterSlot(ctx) {
		f.leaveAs(caller)
		return nil, errFull
	}
	return func() { <-f.slots; f.leaveAs(caller) }, nil
}

// LimitLog calls write at most once in logEvery, so that refused requests do not fill the log.
func (f *InFlight) LimitLog(write func()) { f.logLimit.Do(write) }

// enterSlot takes a slot. If there is none, it waits for one.
func (f *InFlight) enterSlot(ctx context.Context) bool {
	select {
	case f.slots <- struct{}{}:
		return true
	default:
	}
	if f.await(ctx, f.slots) {
		return true
	}
	f.full.Add(1)
	return false
}

// await waits until slots accepts an element, the time is up or the caller disconnects. If too many requests already wait, it returns false at once.
func (f *InFlight) await(ctx context.Context, slots chan<- struct{}) bool {
	defer f.waiting.Add(-1)
	if f.waiting.Add(1) > maxWaiting || f.wait <= 0 {
		return false
	}
	timer := time.NewTimer(f.wait)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// enterAs counts one more request for a caller. It returns false if the caller has already used its share.
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

type slotKey struct{}

// WithSlot stores leave in the context, so that a request can return its slot before it ends. leave must allow several calls.
func WithSlot(ctx context.Context, leave func()) context.Context {
	return context.WithValue(ctx, slotKey{}, leave)
}

// ReleaseSlot returns a request's slot. ListChanges calls it, because from then on the request mostly waits.
func ReleaseSlot(ctx context.Context) {
	if leave, ok := ctx.Value(slotKey{}).(func()); ok {
		leave()
	}
}
