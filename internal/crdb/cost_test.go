package crdb_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/catalogcache"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// manyBlocks is the number of held host blocks in a full pool. Between them is the same number of single free blocks, which is the longest possible
// free list.
const manyBlocks = 25_000

// cost is the work that one request causes in the database.
type cost struct {
	statements []string         // names, in the order of sending
	rows       map[string]int64 // number of rows read through an index, or written, by table
	scans      int64            // number of tables that were read as a whole
	searches   int64            // number of descents of an index, for a read or a write
	pages      int64            // number of pages read, of tables and indexes
}

// meter measures the cost of requests. A proxy counts the statements, and PostgreSQL's counters count all other work. A session adds its counts when
// it ends, so each request has its own server.
type meter struct {
	conn  *pgx.Conn
	house *house
	proxy *pgfault.Proxy
	mu    sync.Mutex
	said  []string
}

func newMeter(t *testing.T) (*meter, *house) {
	t.Helper()
	dbtest.OnPostgres(t)
	m := &meter{}
	dsn := dbtest.New(t)
	m.conn = dbtest.Connect(t, dsn, nil)
	var err error
	m.proxy, err = pgfault.Start(context.Background(), dsn, pgfault.Fault(func(e pgfault.Event) pgfault.Action {
		if e.Executes() && e.SQL != "" && !inBackground(nameOf(e.SQL)) { // the driver's ping is an SQL comment
			m.mu.Lock()
			defer m.mu.Unlock()
			m.said = append(m.said, nameOf(e.SQL))
		}
		return pgfault.Action{}
	}))
	require.NoError(t, err)
	t.Cleanup(m.proxy.Close)
	m.house = newHouse(t, m.proxy.DSN())
	// A vacuum also changes the counters, and it may run at any time. So it is off.
	_, err = m.conn.Exec(t.Context(), `DO $$ DECLARE t TEXT; BEGIN
		FOR t IN SELECT relname FROM pg_stat_user_tables LOOP EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', t); END LOOP; END $$`)
	require.NoError(t, err)
	return m, m.house
}

// of returns the cost of a request. First it closes the sessions of the meter's own server, so that their counts do not arrive during the
// measurement.
func (m *meter) of(t *testing.T, request func(ctx context.Context, svc *alloc.Service)) cost {
	t.Helper()
	m.house.store.Close()
	defer func() {
		m.house.store = open(t, m.proxy.DSN())
		m.house.svc = alloc.New(m.house.store, alloc.Options{Region: region, Webhooks: hooked})
	}()
	require.NoError(t, m.proxy.AwaitIdle(admin(t)))
	before := m.read(t)
	store := open(t, m.proxy.DSN(), sure)
	m.mu.Lock()
	m.said = nil // discards the statements that opened the store
	m.mu.Unlock()
	request(admin(t), alloc.New(store, alloc.Options{Region: region, Webhooks: hooked}))
	store.Close()
	require.NoError(t, m.proxy.AwaitIdle(admin(t)))
	m.mu.Lock()
	defer m.mu.Unlock()
	after := m.read(t)
	c := cost{
		statements: m.said, rows: map[string]int64{}, scans: after.scans - before.scans,
		searches: after.searches - before.searches, pages: after.pages - before.pages,
	}
	for table, n := range after.rows {
		if n -= before.rows[table]; n != 0 {
			c.rows[table] = n
		}
	}
	return c
}

var ofSomeRows = regexp.MustCompile(`_one\b|_alike\b`)

// nameOf returns the name of a statement. For BEGIN, COMMIT and similar statements it returns the text.
func nameOf(sql string) string {
	all := query.All()
	maps.Copy(all, query.MergedStatements())
	for name, text := range all {
		if strings.EqualFold(strings.Join(strings.Fields(text), " "), sql) {
			return ofSomeRows.ReplaceAllString(name, "") // whether it is one row or several depends on the position of the block
		}
	}
	if strings.HasPrefix(sql, "select pg_advisory_xact_lock") || strings.Contains(sql, "pg_try_advisory_xact_lock") {
		return "lock" // no number of the lock: locks are in the order of their keys, and keys are random
	}
	return sql
}

// read reads the counters. Each index entry that was read counts as a row. Each written row counts as one search in every index of its table.
func (m *meter) read(t *testing.T) cost {
	t.Helper()
	_, err := m.conn.Exec(t.Context(), "SELECT pg_stat_force_next_flush()") // the counts of this session, which runs the vacuum
	require.NoError(t, err)
	rows, err := m.conn.Query(t.Context(), `
		SELECT t.relname, t.seq_scan, t.n_tup_ins + t.n_tup_upd + t.n_tup_del, sum(i.idx_tup_read)::INT8, sum(i.idx_scan)::INT8, count(*),
			max(coalesce(io.heap_blks_read, 0) + coalesce(io.heap_blks_hit, 0) + coalesce(io.idx_blks_read, 0) + coalesce(io.idx_blks_hit, 0))
		FROM pg_stat_user_tables AS t JOIN pg_stat_user_indexes AS i USING (relid) JOIN pg_statio_user_tables AS io ON io.relid = t.relid
		WHERE t.relname NOT LIKE 'goose%' AND t.relname <> 'compatibility' GROUP BY t.relname, t.seq_scan, t.n_tup_ins, t.n_tup_upd, t.n_tup_del`)
	require.NoError(t, err)
	c := cost{rows: map[string]int64{}}
	var table string
	var whole, written, entries, searches, indexes, pages int64
	_, err = pgx.ForEachRow(rows, []any{&table, &whole, &written, &entries, &searches, &indexes, &pages}, func() error {
		c.rows[table] = entries + written
		c.scans += whole
		c.searches += searches + written*indexes
		c.pages += pages
		return nil
	})
	require.NoError(t, err)
	return c
}

// fragmentPool makes claims on every second host block at the beginning of a pool. The blocks between them stay free.
func fragmentPool(t *testing.T, c *pgx.Conn, p ipam.Pool) {
	t.Helper()
	head := fmt.Sprintf("%x", p.Block.Addr().AsSlice()[:p.Block.Addr().BitLen()/8-4]) // all bytes except the last four
	tail := uint32(0)
	if p.Family() == ipam.IPv4 {
		b := p.Block.Addr().As4()
		tail = uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	}
	at := func(n string) string {
		return fmt.Sprintf("decode('%s' || lpad(to_hex(%d + %s), 8, '0'), 'hex')", head, tail, n)
	}
	id := func(what string) string { return fmt.Sprintf("md5('%s' || i || '%s')::UUID", what, p.UID) }
	exec := func(sql string, args ...any) {
		_, err := c.Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	series := fmt.Sprintf(" FROM generate_series(0, %d) AS i", manyBlocks-1)
	exec("DELETE FROM free_blocks WHERE container_id = $1", p.UID.String())
	exec(fmt.Sprintf("INSERT INTO free_blocks SELECT 'local', '%s', 0, %s%s", p.UID, at("i * 2"), series))
	exec(fmt.Sprintf(`INSERT INTO holds SELECT 'local', '%s', '%s', %s, %d, %s, 'Claim', 'Bound', '%s', 'held-%s-' || i, %s, %s, NULL, now(), NULL, '{"p":"%s/%s","b":"filler","d":3}'%s`,
		p.ProjectID, p.UID, at("i * 2 + 1"), p.Block.Addr().BitLen(), id("a"), p.ProjectID, p.Name, id("c"), id("r"), p.Project, p.Name, series))
	first, ok := freespace.NthAddress(p.Block, 2*manyBlocks)
	require.True(t, ok)
	for _, b := range freespace.FromRange(first, freespace.Last(p.Block)) {
		exec("INSERT INTO free_blocks VALUES ('local', $1, $2, $3)", p.UID.String(), int16(b.Addr().BitLen()-b.Bits()), b.Addr().AsSlice())
	}
	_, err := crdb.RenewEpochs(t.Context(), c.Config().ConnString())
	require.NoError(t, err) // afterwards the version row counts the new blocks
}

// A claim and its release send the same statements and touch the same number of rows, however full the pool is. The test compares an empty pool with
// a pool that has 25,000 held blocks and as many single free blocks.
func TestClaimCostIsIndependentOfPoolUsage(t *testing.T) {
	t.Parallel()
	m, h := newMeter(t)
	empty, crowded := map[string][2]cost{}, map[string][2]cost{}
	measure := func(pool ipam.Pool, into map[string][2]cost) {
		strategies := []ipam.Strategy{ipam.BestFit, ipam.Random}
		if pool.Family() == ipam.IPv4 {
			strategies = append(strategies, ipam.FirstFit, ipam.Sparse)
		}
		for _, strategy := range strategies {
			_, err := h.svc.PatchPool(admin(t), project, pool.Name, usecase.Request{}, func(q ipam.Pool) (ipam.Pool, error) {
				q.Spec.Allocation.Strategy = strategy
				return q, nil
			})
			require.NoError(t, err)
			into[fmt.Sprint(pool.Family(), " ", strategy)] = m.pair(t, pool, strategy)
		}
	}
	none4, none6 := h.createPool(t, rootPool("empty4", "10.0.0.0/8")), h.createPool(t, rootPool("empty6", "2001:db8::/32"))
	full4, full6 := h.createPool(t, rootPool("crowded4", "11.0.0.0/8")), h.createPool(t, rootPool("crowded6", "2001:db9::/32"))
	fragmentPool(t, m.conn, full4)
	fragmentPool(t, m.conn, full6)
	_, err := m.conn.Exec(t.Context(), "VACUUM ANALYZE")
	require.NoError(t, err)
	for _, p := range []ipam.Pool{none4, none6} {
		measure(p, empty)
	}
	for _, p := range []ipam.Pool{full4, full6} {
		measure(p, crowded)
	}
	require.Len(t, crowded, 6)
	for name, a := range empty {
		for i, what := range []string{"claim", "release"} {
			compareCosts(t, name+" "+what, a[i], crowded[name][i])
		}
	}
}

// compareCosts compares the cost of a request in an empty pool with its cost in a full pool.
func compareCosts(t *testing.T, name string, a, b cost) {
	t.Helper()
	t.Logf("%s: %v; empty %v, %d pages; crowded %v, %d pages", name, a.statements, a.rows, a.pages, b.rows, b.pages)
	require.Zero(t, a.scans+b.scans, "%s: no table is read as a whole", name)
	require.LessOrEqual(t, b.pages, a.pages+max(a.searches, b.searches), "%s: pages, at most one more a search", name)
	// A new server reads additional free blocks for its cache, up to a limit.
	lengths := int64(32 - 8 + 1)
	if strings.HasPrefix(name, string(ipam.IPv6)) {
		lengths = 128 - 32 + 1
	}
	for _, c := range []*cost{&a, &b} {
		require.LessOrEqual(t, c.rows["free_blocks"], 4*(lengths+catalogcache.PrefetchLength), name)
		delete(c.rows, "free_blocks")
	}
	if strings.HasSuffix(name, "BestFit claim") {
		require.Equal(t, a.statements, b.statements, name)
		require.Equal(t, a.rows, b.rows, name)
		return
	}
	// These numbers depend on the position of the block, and not on the number of blocks. A release searches for a buddy at each length, which is the
	// other half of the next larger block. A strategy other than BestFit searches each length once or twice, and splits a block at most once for each
	// length.
	for _, c := range []*cost{&a, &b} {
		c.statements = slices.DeleteFunc(c.statements, func(s string) bool { return s == "free_insert" || s == "free_delete" }) // sent only if there are rows to write
	}
	require.Equal(t, a.statements, b.statements, name)
	require.Equal(t, a.rows, b.rows, name)
}

// pair returns the costs of the claim and the release of one host address. An earlier claim has already split the block.
func (m *meter) pair(t *testing.T, p ipam.Pool, strategy ipam.Strategy) [2]cost {
	t.Helper()
	bits := p.Block.Addr().BitLen()
	create := func(name string) func(context.Context, *alloc.Service) {
		return func(ctx context.Context, svc *alloc.Service) {
			_, err := svc.CreateClaim(ctx, project, claimOf(strings.ToLower(fmt.Sprint(name, "-", strategy, "-", p.Name)), project, p.Name, bits), usecase.Request{})
			require.NoError(t, err)
		}
	}
	m.of(t, create("first"))
	// The index entry of a deleted row counts until a vacuum removes the entry.
	_, err := m.conn.Exec(t.Context(), "VACUUM (INDEX_CLEANUP ON) free_blocks")
	require.NoError(t, err)
	claim := m.of(t, create("second"))
	release := m.of(t, func(ctx context.Context, svc *alloc.Service) {
		require.NoError(t, svc.DeleteClaim(ctx, project, strings.ToLower(fmt.Sprint("second-", strategy, "-", p.Name)), usecase.Request{}))
	})
	return [2]cost{claim, release}
}
