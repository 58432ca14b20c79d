package rivals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/carve-ipam/carve/lab/latency"
)

// result is the result of one cell.
type result struct {
	Contestant string  `json:"contestant"`
	Each       int     `json:"perCall"` // rows, claims or other objects in a call
	Clients    int     `json:"clients"`
	Held       int     `json:"held"`
	Round      int     `json:"round"`
	Rate       float64 `json:"opsPerSecond"` // rows, claims or other objects per second; not calls
	P50        float64 `json:"p50ms"`        // time of a call
	P95        float64 `json:"p95ms"`
	P99        float64 `json:"p99ms"`
	Operations int     `json:"operations"` // calls that finished in the measured time
	Errors     int     `json:"errors"`
	CutOff     int     `json:"cutOff"` // calls that were not finished at the end of the grace time
	Error      string  `json:"firstError,omitempty"`
	HandedOut  int     `json:"handedOut"`
	Doubles    int     `json:"doubles"` // handed out although held already
	Skipped    string  `json:"skipped,omitempty"`
	// The cost of an operation, independent of the machine: bytes of the database's log, and processor time of this process. This process contains
	// the generator of the load and the measured code (the library, or the server).
	WAL      float64 `json:"walBytesPerOperation"`
	CPU      float64 `json:"processMicrosecondsPerOperation"`
	Database float64 `json:"databaseMicrosecondsPerOperation"` // processor time of all database processes
	Broken   string  `json:"broken,omitempty"`                 // findings of the data check

	things string // kind of the counted objects
	ours   bool
	done   int // objects handed out in the whole cell, including the unmeasured time
}

// measure prepares a cell, runs it, and checks the objects that it handed out. An error becomes part of the result.
func measure(ctx context.Context, db *database, c cell, o options) *result {
	r := &result{Contestant: c.contestant.name, Each: c.contestant.each, Clients: c.clients, Held: c.held, Round: c.round, things: c.contestant.things, ours: c.contestant.ours}
	prepare, cancel := context.WithTimeout(ctx, o.setup)
	defer cancel()
	s, err := c.contestant.open(prepare, db, c)
	if err != nil {
		r.Skipped = fmt.Sprintf("not ready within %s: %v", o.setup, err)
		if prepare.Err() == nil {
			r.Skipped = fmt.Sprintf("could not be made ready: %v", err)
		}
		return r
	}
	defer func() {
		if err := s.close(); err != nil && r.Broken == "" {
			r.Broken = err.Error()
		}
	}()
	begun := time.Now()
	alone, stop := context.WithTimeout(ctx, o.bound)
	probe, err := s.call(alone, 0, nil)
	stop()
	if took := time.Since(begun); err != nil || took > o.bound {
		r.Skipped = fmt.Sprintf("one operation alone took %s, of %s allowed (%v)", took.Round(time.Millisecond), o.bound, err)
		return r
	}
	runtime.GC() // collect the garbage of other cells
	before, err := db.spent(ctx)
	if err == nil {
		err = profiled(o.pprof, r, func() { drive(ctx, s, r, o, probe) })
	}
	if err == nil {
		err = r.charge(ctx, db, before)
	}
	if err != nil {
		r.Broken = err.Error()
		return r
	}
	if s.check != nil {
		if err := s.check(ctx); err != nil {
			r.Broken = err.Error()
		}
	}
	return r
}

// tally has the observations of one client.
type tally struct {
	handed   []uint64
	took     []time.Duration
	finished int
	done     int
	failed   int
	cutOff   int
	err      error
	ranOut   time.Time
}

// errRanOut reports that all prepared objects of a cell are used. The cell then ends early.
var errRanOut = errors.New("what was prepared is used up")

// drive runs the clients without a pause. The rate counts the operations that finished within the measured time. The times cover all operations that
// began within the measured time. So slow operations that finish later count too.
func drive(ctx context.Context, s *session, r *result, o options, probe []uint64) {
	from := time.Now().Add(o.warm)
	to := from.Add(o.time)
	ctx, cancel := context.WithDeadline(ctx, to.Add(o.grace))
	defer cancel()
	tallies := make([]tally, r.Clients)
	var wg sync.WaitGroup
	for i := range tallies {
		wg.Go(func() { tallies[i].work(ctx, s, i, from, to) })
	}
	wg.Wait()
	handed, until := probe, to
	var took []time.Duration
	for _, t := range tallies {
		handed, took = append(handed, t.handed...), append(took, t.took...)
		r.Operations += t.finished
		r.done += t.done * r.Each
		r.Errors += t.failed
		r.CutOff += t.cutOff
		if t.err != nil && r.Error == "" {
			r.Error = t.err.Error()
		}
		if !t.ranOut.IsZero() && t.ranOut.Before(until) {
			until = t.ranOut
		}
	}
	r.HandedOut, r.Doubles = len(handed), doubles(handed, s.first)
	if until.After(from) {
		r.Rate = float64(r.Operations*r.Each) / until.Sub(from).Seconds()
	}
	r.P50, r.P95, r.P99 = percentile(took, 50), percentile(took, 95), percentile(took, 99)
}

func (t *tally) work(ctx context.Context, s *session, client int, from, to time.Time) {
	for begin := time.Now(); begin.Before(to) && ctx.Err() == nil; {
		handed, err := s.call(ctx, client, t.handed)
		end := time.Now()
		switch {
		case errors.Is(err, errRanOut):
			t.ranOut = begin
			return
		case err != nil && ctx.Err() != nil:
			t.cutOff++
		// Failures during the warm-up do not count.
		case err != nil && end.Before(from):
		case err != nil:
			t.failed++
			t.err = cmp.Or(t.err, err)
		default:
			t.handed = handed
			t.done++
			if !begin.Before(from) {
				t.took = append(t.took, end.Sub(begin))
			}
			if !end.Before(from) && end.Before(to) {
				t.finished++
			}
		}
		begin = end
	}
}

// percentile returns a percentile in milliseconds.
func percentile(times []time.Duration, percent int) float64 {
	return latency.Milliseconds(latency.Percentile(times, percent))
}
