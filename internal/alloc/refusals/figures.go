package refusals

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// How much of the database the figures of refusals may cost. Counting what is free in a pool reads a row for each free block, and who is
// refused comes again: without a bound, a large pool that is full would keep the database busy with saying so.
const (
	// smallStock is how many rows are counted for every refusal: they take about a millisecond.
	smallStock = 4096
	// countingPart of the time may be spent on counting one pool: it is counted again when so many times as long as that took have passed.
	countingPart = 20
	// freshFigures is how long at least what was counted is good.
	freshFigures = 250 * time.Millisecond
	// staleFigures is when it is counted anew at the latest, and oldestFigures how old it can be in an answer while somebody does.
	staleFigures  = 30 * time.Second
	oldestFigures = time.Minute
	// maxFigures bounds how many pools are remembered.
	maxFigures = 1024
)

// Figures remembers what was counted in large pools, for refusals alone: that a pool has no room was decided by a transaction, and how
// much it has of what was not asked for may be a moment old. Small pools are counted each time.
type Figures struct {
	clock func() time.Time
	small int64
	once  singleflight.Group

	mu    sync.Mutex // of deciding who counts
	known *lru.Cache[ipam.ID, countedStock]
}

// countedStock is what was found in a pool.
type countedStock struct {
	stock    ipam.Stock // never written
	at       time.Time  // when counting began
	good     time.Time  // until then nobody counts again
	counting bool       // somebody does
}

// NewFigures makes a memory of nothing.
func NewFigures(clock func() time.Time) *Figures {
	return &Figures{clock: clock, small: smallStock, known: usecase.NewLRU[ipam.ID, countedStock](maxFigures)}
}

// fill fills in what is free in the pools. since is when the oldest of it was counted, if it was not counted for this refusal alone: zero
// otherwise. Those who want the same pools counted wait for one of them to do it.
func (f *Figures) fill(ctx context.Context, read storage.Reader, pools []ipam.Pool) (since time.Time, err error) {
	anew, since := f.remembered(pools)
	if len(anew) == 0 {
		return since, nil
	}
	mine := false
	done := f.once.DoChan(idsOf(anew), func() (stocks any, err error) {
		mine = true
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usecase.GroupDeadline) // others wait for it too
		defer cancel()
		defer func() {
			if r := recover(); r != nil { // in a goroutine of singleflight's, where it would end the process
				err = fmt.Errorf("panic while counting: %v\n%s", r, debug.Stack())
			}
		}()
		return f.count(ctx, read, anew)
	})
	select {
	case <-ctx.Done():
		return since, ctx.Err()
	case r := <-done:
		stocks, _ := r.Val.(map[ipam.ID]ipam.Stock)
		if err := use(pools, stocks, r.Err); err != nil || mine {
			return since, err
		}
		return f.notMine(ctx, read, pools, anew, since)
	}
}

// notMine completes what somebody else has counted: small pools are counted again, large ones are as old as what is remembered of them.
func (f *Figures) notMine(ctx context.Context, read storage.Reader, pools, anew []ipam.Pool, since time.Time) (time.Time, error) {
	var again []ipam.Pool
	for _, p := range anew {
		if k, ok := f.known.Peek(p.UID); ok {
			since = older(since, k.at)
		} else {
			again = append(again, p)
		}
	}
	if len(again) == 0 {
		return since, nil
	}
	stocks, err := f.count(ctx, read, again)
	return since, use(pools, stocks, err)
}

// remembered fills in what is remembered, and answers which pools are to be counted.
func (f *Figures) remembered(pools []ipam.Pool) (anew []ipam.Pool, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock()
	for i, p := range pools {
		k, ok := f.known.Get(p.UID)
		if ok && (now.Before(k.good) || k.counting && now.Sub(k.at) < oldestFigures) {
			pools[i].Stock, since = k.stock, older(since, k.at)
			continue
		}
		if ok {
			k.counting = true
			f.known.Add(p.UID, k)
		}
		anew = append(anew, p)
	}
	return anew, since
}

// count reads what is free in the pools, and remembers it of those that are large.
func (f *Figures) count(ctx context.Context, read storage.Reader, pools []ipam.Pool) (map[ipam.ID]ipam.Stock, error) {
	at := f.clock()
	err := storage.FillStock(ctx, read, pools)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock()
	stocks := make(map[ipam.ID]ipam.Stock, len(pools))
	for _, p := range pools {
		stocks[p.UID] = p.Stock
		k, ok := f.known.Peek(p.UID)
		switch {
		case err != nil && ok:
			k.counting = false
			f.known.Add(p.UID, k)
		case err != nil:
		case rowsOf(p.Stock) <= f.small:
			f.known.Remove(p.UID)
		default:
			good := min(max(countingPart*now.Sub(at), freshFigures), staleFigures)
			f.known.Add(p.UID, countedStock{stock: p.Stock, at: at, good: at.Add(good)})
		}
	}
	return stocks, err
}

// use fills in what was counted.
func use(pools []ipam.Pool, stocks map[ipam.ID]ipam.Stock, err error) error {
	if err != nil {
		return err
	}
	for i, p := range pools {
		if stock, ok := stocks[p.UID]; ok {
			pools[i].Stock = stock
		}
	}
	return nil
}

// rowsOf is how many rows were read to know a stock.
func rowsOf(s ipam.Stock) (n int64) {
	for _, blocks := range s.Free {
		n += blocks
	}
	for _, blocks := range s.Cooling {
		n += blocks
	}
	return n
}

// idsOf is a name for a list of pools.
func idsOf(pools []ipam.Pool) string {
	var b bytes.Buffer
	for _, p := range pools {
		b.Write(p.UID[:])
	}
	return b.String()
}

// older is the earlier of two times; the zero time is none.
func older(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
