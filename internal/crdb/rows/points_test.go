package rows_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

var midnight = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// usedAt draws a utilization record. Its number of addresses is a power of two or any number.
func usedAt(t *rapid.T, seconds int) ipam.UsedAt {
	used := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "used"))
	if rapid.Bool().Draw(t, "everything") {
		used.Lsh(big.NewInt(1), uint(rapid.IntRange(0, 128).Draw(t, "bits")))
	}
	return ipam.UsedAt{At: midnight.Add(time.Duration(seconds) * time.Second), Used: used}
}

func TestUtilizationRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want []ipam.UsedAt
		var stored []byte
		for _, seconds := range rapid.SliceOfN(rapid.IntRange(0, 31*24*3600), 0, 40).Draw(t, "seconds") {
			want = append(want, usedAt(t, seconds))
			stored = rows.AppendPoint(stored, midnight, want[len(want)-1])
		}
		same := func(want, got []ipam.UsedAt) {
			require.Len(t, got, len(want))
			for i := range want {
				require.Equal(t, []string{want[i].At.String(), want[i].Used.String()}, []string{got[i].At.String(), got[i].Used.String()})
			}
		}
		got, err := rows.DecodePoints(nil, midnight, stored)
		require.NoError(t, err)
		same(want, got)
		for cut := range stored {
			if part, err := rows.DecodePoints(nil, midnight, stored[:cut]); err == nil {
				require.Less(t, len(part), len(want))
				same(want[:len(part)], part)
			}
		}
	})
}

func TestUtilizationRecordIsCompact(t *testing.T) {
	t.Parallel()
	all := ipam.UsedAt{At: midnight.Add(23 * time.Hour), Used: new(big.Int).Lsh(big.NewInt(1), 128)}
	require.Len(t, rows.AppendPoint(nil, midnight, all), 6)
	require.Len(t, rows.AppendPoint(nil, midnight, ipam.UsedAt{At: all.At, Used: big.NewInt(14942)}), 7)
	require.Len(t, rows.AppendPoint(nil, midnight, ipam.UsedAt{At: midnight, Used: new(big.Int)}), 3)
}

// The days can be grouped in any way. Each pool and month gets one row with all kept records at their times.
func TestDaysAreMergedIntoMonths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pools := []ipam.ID{{1}, {2}}
		type key struct {
			pool   ipam.ID
			begins time.Time
		}
		var days []rows.Day
		want := map[key]int{}
		for i := range rapid.IntRange(0, 70).Draw(t, "days") {
			for _, pool := range pools {
				if !rapid.Bool().Draw(t, "recorded") {
					continue
				}
				begins := midnight.AddDate(0, 0, i)
				days = append(days, rows.Day{PoolID: pool, Begins: begins, Records: []ipam.UsedAt{{At: begins.Add(time.Hour), Used: big.NewInt(int64(i))}}})
				want[key{pool, begins.AddDate(0, 0, 1-begins.Day())}]++
			}
		}
		m := rows.Months(days, func(records []ipam.UsedAt) []ipam.UsedAt { return records })
		require.Len(t, m.Pools, len(want))
		for i := range m.Pools {
			records, err := rows.DecodePoints(nil, m.Begin[i], m.Points[i])
			require.NoError(t, err)
			require.Len(t, records, want[key{m.Pools[i], m.Begin[i]}])
			for n, r := range records {
				require.Equal(t, midnight.AddDate(0, 0, int(r.Used.Int64())).Add(time.Hour), r.At)
				require.True(t, n == 0 || records[n-1].At.Before(r.At))
			}
			require.Equal(t, records[len(records)-1].At, m.Latest[i])
		}
	})
}
