package bench

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/audit"
)

// BenchmarkScale claims and releases one block, alone, while more and more is held. Besides the time it reports the rows
// that PostgreSQL counted as read or written for each pair (all tables, index entries fetched included).
func BenchmarkScale(b *testing.B) {
	for _, pool := range []struct {
		cidr string
		bits int
	}{{"10.0.0.0/8", 32}, {"2001:db8::/32", 64}} {
		for _, held := range []int{0, 10_000, 1_000_000} {
			for _, fragmented := range []bool{false, true} {
				if held == 0 && fragmented {
					continue
				}
				name := fmt.Sprintf("pool=%s/claim=%d/held=%d/fragmented=%t", pool.cidr, pool.bits, held, fragmented)
				b.Run(name, func(b *testing.B) { benchmarkPair(b, pool.cidr, pool.bits, held, fragmented) })
			}
		}
	}
}

func benchmarkPair(b *testing.B, cidr string, bits, held int, fragmented bool) {
	f := newFixture(b, cidr, bits)
	if held > 0 {
		f.fill(b, held, fragmented)
	}
	before := f.rows(b)
	require.NoError(b, f.claim("warm")) // prepares the statements of the new sessions
	require.NoError(b, f.release("warm"))
	n := 0
	for b.Loop() {
		name := fmt.Sprintf("c-%d", n)
		if err := f.claim(name); err != nil {
			b.Fatal(err)
		}
		if err := f.release(name); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(f.rows(b)-before)/float64(n+1), "rows/pair")
	if held <= 10_000 {
		report, err := audit.Run(f.ctx, f.dsn)
		require.NoError(b, err)
		require.Empty(b, report.Findings)
	}
}

// BenchmarkParallel claims and releases with many clients: on one pool (group commit) and each on its own.
func BenchmarkParallel(b *testing.B) {
	for _, clients := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("one-pool/clients=%d", clients), func(b *testing.B) {
			f := newFixture(b, "10.0.0.0/8", 32)
			var n atomic.Int64
			b.SetParallelism(clients) // times GOMAXPROCS
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					name := fmt.Sprintf("c-%d", n.Add(1))
					if err := f.claim(name); err != nil {
						b.Error(err)
						return
					}
					if err := f.release(name); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkClaims is claims alone, on one pool: what one costs in the process that makes it, the service and the store together.
func BenchmarkClaims(b *testing.B) {
	for _, clients := range []int{1, 16} { // times GOMAXPROCS
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			f := newFixture(b, "10.0.0.0/8", 32)
			require.NoError(b, f.claim("warm"))
			var n atomic.Int64
			b.SetParallelism(clients)
			b.ReportAllocs()
			b.ResetTimer()
			before := processorTime(b)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := f.claim(fmt.Sprintf("c-%d", n.Add(1))); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// rows is what PostgreSQL has counted so far for this database: rows fetched through indexes or read by scans, and rows
// written. A session hands in its counts when it ends, so the service's sessions are ended first and begun again.
func (f *fixture) rows(b *testing.B) int64 {
	b.Helper()
	f.store.Close()
	c, err := pgx.Connect(f.ctx, f.dsn)
	require.NoError(b, err)
	defer c.Close(f.ctx)
	require.Eventually(b, func() bool {
		var others int
		err := c.QueryRow(f.ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&others)
		return err == nil && others == 0
	}, time.Minute, 10*time.Millisecond)
	var n int64
	require.NoError(b, c.QueryRow(f.ctx, `SELECT coalesce(sum(idx_tup_fetch + seq_tup_read + n_tup_ins + n_tup_upd + n_tup_del), 0)::INT8 FROM pg_stat_user_tables`).Scan(&n))
	f.open(b)
	return n
}
