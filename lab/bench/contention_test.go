package bench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
)

// BenchmarkContention claims and releases through three services on one database. They stand for three servers. It compares two cases: all services
// use one pool, or each uses its own pool. It reports the number of retried transactions per pair of claim and release.
func BenchmarkContention(b *testing.B) {
	for _, shared := range []bool{true, false} {
		b.Run(fmt.Sprintf("services=3/one-pool=%t", shared), func(b *testing.B) { benchmarkContention(b, shared) })
	}
}

func benchmarkContention(b *testing.B, shared bool) {
	const services, clients = 3, 8
	f := newFixture(b, "10.0.0.0/8", 32)
	var again, next atomic.Int64
	all := make([]*fixture, services)
	for i := range all {
		store, err := crdb.Open(f.ctx, f.dsn, crdb.Options{Region: "local", MaxConnections: 8, OnAttempt: func(a crdb.Attempt) {
			if a.End == "again" {
				again.Add(1)
			}
		}})
		require.NoError(b, err)
		b.Cleanup(store.Close)
		own := *f
		own.store, own.svc = store, alloc.New(store, alloc.Options{Region: "local"})
		if !shared {
			own.pool = own.newPool(b, fmt.Sprintf("p%d", i), fmt.Sprintf("172.%d.0.0/16", 16+i))
		}
		all[i] = &own
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, s := range all {
		for range clients {
			wg.Go(func() {
				for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
					name := fmt.Sprintf("c-%d", n)
					if err := s.claim(name); err != nil {
						b.Errorf("claim: %v", err)
						return
					}
					if err := s.release(name); err != nil {
						b.Errorf("release: %v", err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(again.Load())/float64(b.N), "again/pair")
	report, err := audit.Run(f.ctx, f.dsn)
	require.NoError(b, err)
	require.Empty(b, report.Findings)
}
