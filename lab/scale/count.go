package scale

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// counts is the cost of one operation, independent of the machine. It has the statements sent, the rows read or written (index entries, and the rows
// of scanned tables), and the pages of tables and indexes read.
type counts struct {
	Statements float64 `json:"statements"`
	Rows       float64 `json:"rows"`
	Pages      float64 `json:"pages"`

	Parts  []part             `json:"byStatement,omitempty"` // the most pages first
	Tables map[string]float64 `json:"rowsByTable,omitempty"`
}

// part is one statement's share.
type part struct {
	Statement string  `json:"statement"`
	Calls     float64 `json:"calls"`
	Pages     float64 `json:"pages"`
}

const (
	countedOperations = 4                      // the counts hardly vary
	slow              = 100 * time.Millisecond // slower operations are counted only twice
)

// besides lists the statements that a store itself sends now and then.
var besides = map[string]bool{"clock_read": true, "compatibility_get": true, "region_list": true}

// meter counts in one cell. PostgreSQL's sessions report their rows when they end, so the counted operations have a session of their own. An earlier
// session runs only the warm-up, and count subtracts its rows. The counted operations begin with warm plans and caches. If operations go to many
// pools, the service gets an empty cache before each, in the smallest cell as in the others.
type meter struct {
	w     *world
	probe *pgx.Conn
	rand  *rand.Rand
}

// counting counts each operation separately. It closes the cell's own sessions during that time.
func (w *world) counting(ctx context.Context, ops []operation) (_ map[string]*counts, err error) {
	w.store.Close()
	defer func() { err = errors.Join(err, w.open(ctx)) }()
	probe, err := pgx.Connect(ctx, w.db.DSN(w.name))
	if err != nil {
		return nil, err
	}
	defer probe.Close(context.WithoutCancel(ctx))
	m := &meter{w: w, probe: probe, rand: rand.New(rand.NewPCG(3, 7))} //nolint:gosec // the same places every time
	out := map[string]*counts{}
	for _, op := range ops { // reads come first: they leave no dead rows to the operations after them
		if out[op.name], err = m.read(ctx, op); err != nil {
			return nil, fmt.Errorf("%s: %w", op.name, err)
		}
	}
	if out[OpClaim], out[opRelease], err = m.pairs(ctx); err != nil {
		return nil, fmt.Errorf("claims and releases: %w", err)
	}
	return out, nil
}

func (m *meter) read(ctx context.Context, op operation) (*counts, error) {
	took := time.Duration(0)
	once := func() error {
		begin := time.Now()
		_, err := op.run(ctx, m.w, m.w.layout.pick(m.rand))
		took = time.Since(begin)
		return err
	}
	warm := func() error { return firstError(once, once) }
	return m.count(ctx, warm, func() int {
		if took > slow {
			return 2
		}
		return countedOperations
	}, func(int) error { return once() })
}

// pairs counts claims, and then releases, in runs.
func (m *meter) pairs(ctx context.Context) (claims, releases *counts, err error) {
	warm := func() error {
		for range 2 {
			p := m.w.layout.pick(m.rand)
			if err := firstError(func() error { return claim(ctx, m.w, p, "warm") }, func() error { return release(ctx, m.w, p, "warm") }); err != nil {
				return err
			}
		}
		return nil
	}
	claims, releases = &counts{Tables: map[string]float64{}}, &counts{Tables: map[string]float64{}}
	run := m.w.layout.run
	inRun := func() int { return run }
	rounds := max(1, countedOperations/run)
	for range rounds {
		places := make([]place, run)
		for i := range places {
			places[i] = m.w.layout.pick(m.rand)
		}
		made, err := m.count(ctx, warm, inRun, func(i int) error { return claim(ctx, m.w, places[i], runName(i)) })
		if err != nil {
			return nil, nil, err
		}
		gone, err := m.count(ctx, warm, inRun, func(i int) error { return release(ctx, m.w, places[i], runName(i)) })
		if err != nil {
			return nil, nil, err
		}
		claims.add(made, rounds)
		releases.add(gone, rounds)
	}
	return claims, releases, nil
}

func runName(i int) string { return fmt.Sprintf("run-%08d", i) }

// count returns the cost of one operation after a warm-up. After the first warm-up, it calls many for the number of operations.
func (m *meter) count(ctx context.Context, warm func() error, many func() int, act func(i int) error) (*counts, error) {
	before, err := m.session(ctx, warm)
	if err != nil {
		return nil, err
	}
	n := many()
	var said map[string]cost
	rows, err := m.session(ctx, func() error {
		if err := warm(); err != nil {
			return err
		}
		if err := m.w.db.forget(ctx, m.w.name); err != nil {
			return err
		}
		for i := range n {
			if m.w.layout.run == 1 {
				m.w.forget()
			}
			if err := act(i); err != nil {
				return err
			}
		}
		var err error
		said, err = m.w.db.said(ctx, m.w.name)
		return err
	})
	if err != nil {
		return nil, err
	}
	c := &counts{Tables: map[string]float64{}}
	for table, touched := range rows {
		if touched -= before[table]; touched != 0 {
			c.Tables[table] = float64(touched) / float64(n)
			c.Rows += c.Tables[table]
		}
	}
	for name, cost := range said {
		if besides[name] {
			continue
		}
		p := part{Statement: name, Calls: float64(cost.calls) / float64(n), Pages: float64(cost.pages) / float64(n)}
		c.Statements += p.Calls
		c.Pages += p.Pages
		c.Parts = append(c.Parts, p)
	}
	slices.SortFunc(c.Parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Statement, b.Statement))
	})
	return c, nil
}

// add adds one round to the mean over a number of rounds.
func (c *counts) add(one *counts, rounds int) {
	share := 1 / float64(rounds)
	c.Statements += one.Statements * share
	c.Rows += one.Rows * share
	c.Pages += one.Pages * share
	for table, rows := range one.Tables {
		c.Tables[table] += rows * share
	}
	for _, p := range one.Parts {
		i := slices.IndexFunc(c.Parts, func(q part) bool { return q.Statement == p.Statement })
		if i < 0 {
			i = len(c.Parts)
			c.Parts = append(c.Parts, part{Statement: p.Statement})
		}
		c.Parts[i].Calls += p.Calls * share
		c.Parts[i].Pages += p.Pages * share
	}
}

// session connects, calls do, disconnects, and returns the number of rows that the call used in each table.
func (m *meter) session(ctx context.Context, do func() error) (map[string]int64, error) {
	before, err := m.rows(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.w.open(ctx); err != nil {
		return nil, err
	}
	err = do()
	m.w.store.Close()
	if err != nil {
		return nil, err
	}
	after, err := m.rows(ctx)
	for table, n := range before {
		after[table] -= n
	}
	return after, err
}

// rows returns PostgreSQL's row counts of each table, once all other sessions have reported theirs.
func (m *meter) rows(ctx context.Context) (map[string]int64, error) {
	if err := m.alone(ctx); err != nil {
		return nil, err
	}
	rows, err := m.probe.Query(ctx, `SELECT t.relname::TEXT, (t.seq_tup_read + t.n_tup_ins + t.n_tup_upd + t.n_tup_del + coalesce(sum(i.idx_tup_read), 0))::INT8
		FROM pg_stat_user_tables AS t LEFT JOIN pg_stat_user_indexes AS i USING (relid)
		WHERE t.relname NOT LIKE 'goose%' AND t.relname <> 'compatibility' GROUP BY t.relname, t.seq_tup_read, t.n_tup_ins, t.n_tup_upd, t.n_tup_del`)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	var table string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&table, &n}, func() error {
		out[table] = n
		return nil
	})
	return out, err
}

// alone waits until no other session is connected.
func (m *meter) alone(ctx context.Context) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		var others int
		err := m.probe.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'").Scan(&others)
		if err != nil || others == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
