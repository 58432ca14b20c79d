package alloc_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/ipam"
)

// recorder returns a Recorder with its own store, like the Recorder of another server.
func (b *bundle) recorder(t testing.TB) *utilization.Recorder {
	t.Helper()
	store, _ := b.store(t)
	return utilization.NewRecorder(store, time.Hour, b.clock.read)
}

// usedOver returns the history of a pool in a period, with one point for each hour.
func (b *bundle) usedOver(t testing.TB, pool string, since, until time.Time) (used []string) {
	t.Helper()
	hours := int(until.Sub(since) / time.Hour)
	h, err := b.GetPoolUtilization(b.ctx, project, pool, utilization.Query{Since: since, Until: until, Points: hours + 1}, usecase.Reading{})
	require.NoError(t, err)
	for _, p := range h.Points {
		used = append(used, fmt.Sprint(p.At.Format("2 15:04 "), p.Used, " ", p.Highest))
	}
	return used
}

func (b *bundle) count(t testing.TB, sql string, args ...any) (n int) {
	t.Helper()
	conn, err := pgx.Connect(b.ctx, b.dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(b.ctx)) }()
	require.NoError(t, conn.QueryRow(b.ctx, sql, args...).Scan(&n))
	return n
}

// Random claims change the usage of a pool for more than two weeks. The history has each hour of the last two weeks. For each earlier day, it has the
// last and the highest value.
func TestUtilizationHistoryMatchesTheRecords(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.move(10 * time.Minute)
	b.pool(t, root("net", "10.0.0.0/24"))
	r, random, held := b.recorder(t), rand.New(rand.NewPCG(1, 2)), []string(nil)
	type seen struct {
		at   time.Time
		used int
	}
	var all []seen
	const days = 17
	for i := range days * 24 {
		switch n := random.IntN(6); {
		case n < 2:
			held = append(held, fmt.Sprint("c", i))
			b.claim(t, claim(held[len(held)-1], "net", 32))
		case n == 2 && len(held) > 0:
			b.release(t, held[0])
			held = held[1:]
		}
		_, err := r.Record(b.ctx)
		require.NoError(t, err)
		if i%7 == 0 {
			_, err := r.Thin(b.ctx)
			require.NoError(t, err)
		}
		all = append(all, seen{b.clock.read(), len(held)})
		b.clock.move(time.Hour)
	}
	_, err := r.Thin(b.ctx)
	require.NoError(t, err)
	full := b.clock.read().Truncate(24*time.Hour).AddDate(0, 0, -14)
	var want []string
	highest, last := map[string]int{}, map[string]int{}
	for _, s := range all {
		if s.at.Before(full) {
			day := s.at.Format("2")
			highest[day], last[day] = max(highest[day], s.used), s.used
			continue
		}
		if len(want) > 0 || s.at.Sub(full) >= time.Hour {
			want = append(want, fmt.Sprint(s.at.Format("2 15:04 "), s.used, " ", s.used))
		}
	}
	require.Equal(t, want, b.usedOver(t, "net", full.Add(70*time.Minute), all[len(all)-1].at))
	require.Len(t, last, 3)
	for at := full; at.AddDate(0, 0, -1).After(all[0].at); at = at.AddDate(0, 0, -1) { // whole days
		h, err := b.GetPoolUtilization(b.ctx, project, "net", utilization.Query{Since: at.AddDate(0, 0, -1).Add(-time.Second), Until: at.Add(-time.Second), Points: 2}, usecase.Reading{})
		require.NoError(t, err)
		day, end := at.AddDate(0, 0, -1).Format("2"), h.Points[len(h.Points)-1]
		require.Equal(t, fmt.Sprint(last[day], " ", highest[day]), fmt.Sprint(end.Used, " ", end.Highest), day)
	}
	require.Equal(t, 15+1, b.count(t, "SELECT count(*) FROM utilization"), "the days that are kept in full, today, and a month")
	b.clock.move(500 * 24 * time.Hour)
	_, err = r.Thin(b.ctx)
	require.NoError(t, err)
	require.Zero(t, b.count(t, "SELECT count(*) FROM utilization"))
}

func TestConcurrentRecordersWriteOneRecordPerHour(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 30 {
		b.pool(t, root(fmt.Sprint("net", i), fmt.Sprintf("10.%d.0.0/24", i)))
	}
	var recorders []*utilization.Recorder
	for range 4 {
		recorders = append(recorders, b.recorder(t))
	}
	for hour := range 3 {
		for i := range 30 {
			b.claim(t, claim(fmt.Sprintf("c%d-%d", hour, i), fmt.Sprint("net", i), 32))
		}
		var all sync.WaitGroup
		counts := make([]int64, len(recorders))
		for i, r := range recorders {
			all.Go(func() {
				n, err := r.Record(b.ctx)
				counts[i] = n
				require.NoError(t, err)
			})
		}
		all.Wait()
		require.EqualValues(t, 30, counts[0]+counts[1]+counts[2]+counts[3])
		n, err := b.recorder(t).Record(b.ctx) // like a restarted server
		require.NoError(t, err)
		require.Zero(t, n)
		b.clock.move(time.Hour)
	}
	began := b.clock.read().Add(-3 * time.Hour)
	for i := range 30 {
		require.Equal(t, []string{"20 12:00 1 1", "20 13:00 2 2", "20 14:00 3 3"}, b.usedOver(t, fmt.Sprint("net", i), began, began.Add(2*time.Hour)))
	}
	require.Equal(t, 30, b.count(t, "SELECT count(*) FROM utilization"))
	n, err := recorders[0].Record(b.ctx)
	require.NoError(t, err)
	require.Zero(t, n, "nothing is other than it was")
	b.clock.move(24 * time.Hour)
	n, err = recorders[0].Record(b.ctx)
	require.NoError(t, err)
	require.EqualValues(t, 30, n, "once a day it is said anew")
}

func TestClockSetBackRecordsNothingTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	r := b.recorder(t)
	record := func(want int64) {
		t.Helper()
		n, err := r.Record(b.ctx)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	b.claim(t, claim("a", "net", 32))
	record(1)
	b.claim(t, claim("b", "net", 32))
	b.clock.move(-3 * time.Hour)
	record(0)
	b.clock.move(-24 * time.Hour)
	record(1)
	b.clock.move(28 * time.Hour)
	record(1)
	until := b.clock.read()
	h, err := b.GetPoolUtilization(b.ctx, project, "net", utilization.Query{Since: until.Add(-48 * time.Hour), Points: 1000}, usecase.Reading{})
	require.NoError(t, err)
	for i, p := range h.Points {
		require.True(t, i == 0 || h.Points[i-1].At.Before(p.At))
	}
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM utilization"))
	b.clock.move(-2 * time.Hour)
	h, err = b.GetPoolUtilization(b.ctx, project, "net", utilization.Query{Points: 1000}, usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, b.clock.read(), h.Points[len(h.Points)-1].At, "what is to come is not shown")
}

func TestUtilizationIsDeletedWithItsPool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	gone := b.pool(t, root("gone", "10.1.0.0/24"))
	r := b.recorder(t)
	_, err := r.Record(b.ctx)
	require.NoError(t, err)
	require.NoError(t, b.DeletePool(b.ctx, project, "gone", usecase.Request{}))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM utilization"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM utilization WHERE pool_id = $1", gone.UID.String()))

	again := b.pool(t, root("gone", "10.1.0.0/24"))
	h, err := b.GetPoolUtilization(b.ctx, project, "gone", utilization.Query{Points: 200}, usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, h.Points, 1, "it is another pool")

	store, _ := b.store(t) // the pool of a record is deleted before the record is written
	require.NoError(t, b.DeletePool(b.ctx, project, "gone", usecase.Request{}))
	now := b.clock.read()
	n, err := store.RecordUtilization(b.ctx, now.Truncate(24*time.Hour), now, []utilization.Record{{PoolID: again.UID, UsedAt: ipam.UsedAt{At: now, Used: new(big.Int)}}})
	require.NoError(t, err)
	require.Zero(t, n)
}

// The record of a pool in several regions is the sum of the usage in all regions. Lent blocks do not matter.
func TestUtilizationSumsAllRegionsOfAPool(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "both", "10.0.0.0/24")
	var all []*utilization.Recorder
	for _, r := range []string{region, eu, us} {
		store, _ := w.storeIn(t, r)
		all = append(all, utilization.NewRecorder(store, time.Hour, w.clock.read))
	}
	for hour, in := range []string{region, eu, us} {
		_, err := w.claimIn(w.ctx, in, "of-"+in, "both", 28)
		require.NoError(t, err)
		for i, r := range all {
			n, err := r.Record(w.ctx)
			require.NoError(t, err)
			require.Equal(t, i == 0, n == 1, "it is recorded at home, and not elsewhere")
		}
		for _, svc := range w.in {
			h, err := svc.GetPoolUtilization(w.ctx, project, "both", utilization.Query{Points: 200}, usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(16*(hour+1)), h.Points[len(h.Points)-1].Used.String())
			require.Len(t, h.Points, hour+1)
		}
		w.clock.move(time.Hour)
	}
	began := w.clock.read().Add(-3 * time.Hour)
	require.Equal(t, []string{"20 12:00 16 16", "20 13:00 32 32", "20 14:00 48 48"}, w.usedOver(t, "both", began, began.Add(2*time.Hour)))
}

func TestFillingPoolHasARunway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	r := b.recorder(t)
	for i := range 24 {
		b.claim(t, claim(fmt.Sprint("c", i), "net", 31))
		_, err := r.Record(b.ctx)
		require.NoError(t, err)
		b.clock.move(time.Hour)
	}
	h, err := b.GetPoolUtilization(b.ctx, project, "net", utilization.Query{Points: 200}, usecase.Reading{})
	require.NoError(t, err)
	require.NotNil(t, h.Runway)
	require.Equal(t, 24*time.Hour, h.Runway.Over)
	require.InDelta(t, 104, h.Runway.RunsOutAt.Sub(b.clock.read()).Hours(), 6, "208 addresses are left, and two go each hour")
	h, err = b.GetPoolUtilization(b.ctx, project, "net", utilization.Query{Until: b.clock.read().Add(-time.Hour), Points: 200}, usecase.Reading{})
	require.NoError(t, err)
	require.Nil(t, h.Runway, "it is about now")
}
