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

// counts is the cost of one operation, independent of the machine. It has three figures: the statements sent, the rows read or written, and the pages
// of tables and indexes read. Rows include index entries and the rows of scanned tables.
type counts struct {
	Statements float64 `json:"statements"`
	Rows       float64 `json:"rows"`
	Pages      float64 `json:"pages"`

	Parts  []part             `json:"byStatement,omitempty"` // sorted by pages, most first
	Tables map[string]float64 `json:"rowsByTable,omitempty"`
}

// part is the share of one statement in the counts.
type part struct {
	Statement string  `json:"statement"`
	Calls     float64 `json:"calls"`
	Pages     float64 `json:"pages"`
}

const (
	countedOperations = 4                      // few operations are enough, because the counts hardly vary
	slow              = 100 * time.Millisecond // a slower operation is counted only twice
)

// besides lists the statements that a store sends by itself from time to time. They belong to no operation.
var besides = map[string]bool{"clock_read": true, "compatibility_get": true, "region_list": true}

// meter counts the cost of operations in one cell. A PostgreSQL session reports its rows only when it ends, so the counted operations have their own
// session. An earlier session runs only the warm-up, and count subtracts the rows of that session. So the counted operations begin with prepared
// plans and warm caches. If operations go to many pools, the service gets an empty cache before each operation. This also applies to the smallest
// cell.
type meter struct {
	w     *world
	probe *pgx.Conn
	rand  *rand.Rand
}

// counting counts each operation separately. The cell's own sessions are closed during that time.
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
	for _, op := range ops { // reads come first, because they leave no dead rows that later operations would visit
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

// pairs counts several claims in a row, and then their releases.
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

// count returns the cost of one operation. It first runs the warm-up. Then it calls many, which returns the number of operations to count.
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

// add adds one of several rounds to the mean over all rounds.
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

// session opens a session, calls do, and closes the session. It returns the number of rows that the session used in each table.
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

// rows returns PostgreSQL's row counts of each table. It first waits until all other sessions have ended and reported their rows.
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
