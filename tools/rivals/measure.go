package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// result is what came of a cell.
type result struct {
	Contestant string  `json:"contestant"`
	Kind       kind    `json:"kind"`
	Bits       int     `json:"prefixLength,omitempty"`
	Clients    int     `json:"clients"`
	Held       int     `json:"held"`
	Rate       float64 `json:"opsPerSecond"`
	P50        float64 `json:"p50ms"`
	P99        float64 `json:"p99ms"`
	Operations int     `json:"operations"` // finished in the measured time
	Errors     int     `json:"errors"`
	CutOff     int     `json:"cutOff"` // not finished when the grace ended
	Error      string  `json:"firstError,omitempty"`
	Retries    int64   `json:"retries"` // begun again inside an operation, where the contestant tells
	HandedOut  int     `json:"handedOut"`
	Doubles    int     `json:"doubles"` // handed out although somebody had it
	Skipped    string  `json:"skipped,omitempty"`
	// What an operation costs, whatever the machine: bytes of the database's log, and processor time of this process, which is
	// the generator's and that of what runs beside it (the library, or the server). The rest of the machine is the database's.
	WAL    float64 `json:"walBytesPerOperation"`
	CPU    float64 `json:"processMicrosecondsPerOperation"`
	Broken string  `json:"broken,omitempty"` // what the check of the data found
	// What Carve does in the same cell, divided by this; 0 where there is nothing to compare.
	InProcess float64 `json:"carveInProcessRatio,omitempty"`
	OverHTTP  float64 `json:"carveHTTPRatio,omitempty"`
}

// measure prepares a cell, runs it and looks at what was handed out. What goes wrong is part of the result.
func measure(ctx context.Context, db *database, c cell, o options) *result {
	r := &result{Contestant: c.contestant.name, Kind: c.contestant.kind, Bits: c.contestant.bits, Clients: c.clients, Held: c.held}
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
	probe, err := s.hand(alone, 0)
	stop()
	if took := time.Since(begun); err != nil || took > o.bound {
		r.Skipped = fmt.Sprintf("one operation alone took %s, of %s allowed (%v)", took.Round(time.Millisecond), o.bound, err)
		return r
	}
	runtime.GC() // what another cell left
	before, err := db.spent(ctx)
	if err == nil {
		drive(ctx, s, r, o, probe)
		err = r.charge(ctx, db, before)
	}
	if err != nil {
		r.Broken = err.Error()
		return r
	}
	if s.retries != nil {
		r.Retries = s.retries()
	}
	if s.check != nil {
		if err := s.check(ctx); err != nil {
			r.Broken = err.Error()
		}
	}
	return r
}

// tally is what one client saw.
type tally struct {
	handed   []uint64
	took     []time.Duration
	finished int
	failed   int
	cutOff   int
	err      error
}

// drive lets the clients work without a pause. The rate counts what finished within the measured time. The times are those of
// operations that began within it, however long they took, so that slow ones are not left out for being slow.
func drive(ctx context.Context, s *session, r *result, o options, probe uint64) {
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
	handed := []uint64{probe}
	var took []time.Duration
	for _, t := range tallies {
		handed, took = append(handed, t.handed...), append(took, t.took...)
		r.Operations += t.finished
		r.Errors += t.failed
		r.CutOff += t.cutOff
		if t.err != nil && r.Error == "" {
			r.Error = t.err.Error()
		}
	}
	r.HandedOut, r.Doubles = len(handed), doubles(handed, s.first)
	r.Rate = float64(r.Operations) / o.time.Seconds()
	slices.Sort(took)
	r.P50, r.P99 = percentile(took, 50), percentile(took, 99)
}

func (t *tally) work(ctx context.Context, s *session, client int, from, to time.Time) {
	for begin := time.Now(); begin.Before(to) && ctx.Err() == nil; {
		n, err := s.hand(ctx, client)
		end := time.Now()
		switch {
		case err != nil && ctx.Err() != nil:
			t.cutOff++
		// What fails while it warms up is no part of the measurement.
		case err != nil && end.Before(from):
		case err != nil:
			t.failed++
			t.err = cmp.Or(t.err, err)
		default:
			t.handed = append(t.handed, n)
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

// percentile is in milliseconds, of times in ascending order; 0 when there are none.
func percentile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(len(sorted)*percent/100, len(sorted)-1)]) / float64(time.Millisecond)
}
