package scale

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/carve-ipam/carve/lab/latency"
)

// figures is the cost of one operation in one cell.
type figures struct {
	Operation string  `json:"operation"`
	Samples   int     `json:"samples"`
	P50       float64 `json:"p50ms"`
	P95       float64 `json:"p95ms"`
	P99       float64 `json:"p99ms"`
	// Partial counts the samples whose page did not contain the wanted item, so that a client must read the next page.
	Partial int `json:"partial,omitempty"`
	counts
}

// clock collects the times of one operation in one cell.
type clock struct {
	took    []time.Duration
	partial int
}

func (c *clock) figures(name string, n *counts) *figures {
	return &figures{Operation: name, Samples: len(c.took), P50: percentile(c.took, 50), P95: percentile(c.took, 95), P99: percentile(c.took, 99), Partial: c.partial, counts: *n}
}

// percentile returns a percentile in milliseconds.
func percentile(times []time.Duration, percent int) float64 {
	return latency.Milliseconds(latency.Percentile(times, percent))
}

// bounds limits the measurement of one operation.
type bounds struct {
	operations int
	time       time.Duration // no operation begins after this time
}

const fewest = 3

func (b bounds) more(done int, since time.Time) bool {
	return done < b.operations && (done < fewest || time.Since(since) < b.time)
}

// measure measures two cells in turn, one operation each. It returns the figures of both cells by operation.
func measure(ctx context.Context, pair [2]*world, ops []operation, b bounds) (out [2]map[string]*figures, err error) {
	var n [2]map[string]*counts
	for i, w := range pair {
		if w.layout.anchor {
			if err := claim(ctx, w, w.layout.pick(rand.New(rand.NewPCG(1, 1))), "resident"); err != nil { //nolint:gosec // any place
				return out, err
			}
		}
		if n[i], err = w.counting(ctx, ops); err != nil {
			return out, err
		}
		out[i] = map[string]*figures{}
	}
	t := &turns{ctx: ctx, pair: pair, bounds: b}
	for i := range pair {
		t.rand[i] = rand.New(rand.NewPCG(2, 4)) //nolint:gosec // the same places every time
	}
	runtime.GC()
	clocks := map[string]*[2]clock{OpClaim: {}, opRelease: {}}
	if err := t.pairs(clocks[OpClaim], clocks[opRelease]); err != nil {
		return out, fmt.Errorf("claims and releases: %w", err)
	}
	for _, op := range ops {
		clocks[op.name] = &[2]clock{}
		if err := t.reads(op, clocks[op.name]); err != nil {
			return out, fmt.Errorf("%s: %w", op.name, err)
		}
	}
	for i, w := range pair {
		for name, c := range clocks {
			out[i][name] = c[i].figures(name, n[i][name])
		}
		if w.layout.anchor {
			if err := release(ctx, w, w.layout.pick(rand.New(rand.NewPCG(1, 1))), "resident"); err != nil { //nolint:gosec // the same place
				return out, err
			}
		}
	}
	return out, nil
}

// turns measures the two cells of a pair in turn.
type turns struct {
	ctx    context.Context //nolint:containedctx // of one measurement
	pair   [2]*world
	rand   [2]*rand.Rand
	bounds bounds
}

// order returns the order of the two cells in a turn. It alternates, so that neither cell always follows the other.
func order(i int) [2]int {
	if i%2 == 1 {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}

// warm is the number of operations before the measurement. In them, each connection prepares its plans.
const warm = 5

func (t *turns) reads(op operation, clocks *[2]clock) error {
	begin := time.Now()
	for i := -warm; i < 0 || t.bounds.more(i, begin); i++ {
		if i == 0 {
			begin = time.Now()
		}
		for _, k := range order(i & 1) {
			p := t.pair[k].layout.pick(t.rand[k])
			start := time.Now()
			whole, err := op.run(t.ctx, t.pair[k], p)
			took := time.Since(start)
			if err != nil {
				return err
			}
			if i < 0 {
				if took > slow {
					i = -1 // one slow operation is enough warm-up
				}
				continue
			}
			clocks[k].took = append(clocks[k].took, took)
			if !whole {
				clocks[k].partial++
			}
		}
	}
	return nil
}

// pairs makes several claims and then releases them, oldest first. It repeats this until the bounds are reached.
func (t *turns) pairs(claims, releases *[2]clock) error {
	run := min(t.pair[0].layout.run, t.pair[1].layout.run)
	begin := time.Now()
	for done := -run; done < 0 || t.bounds.more(done, begin); done += run {
		if done == 0 {
			begin = time.Now()
		}
		var places [2][]place
		step := func(clocks *[2]clock, do func(context.Context, *world, place, string) error) error {
			for i := range run {
				for _, k := range order(i) {
					start := time.Now()
					if err := do(t.ctx, t.pair[k], places[k][i], runName(i)); err != nil {
						return err
					}
					if done >= 0 {
						clocks[k].took = append(clocks[k].took, time.Since(start))
					}
				}
			}
			return nil
		}
		for k := range t.pair {
			for range run {
				places[k] = append(places[k], t.pair[k].layout.pick(t.rand[k]))
			}
		}
		if err := firstError(func() error { return step(claims, claim) }, func() error { return step(releases, release) }); err != nil {
			return err
		}
	}
	return nil
}
