package regions

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestLoanPrefixLength(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ago := func(loan int, d time.Duration) ipam.PoolRegion {
		return ipam.PoolRegion{Loan: loan, LoanedAt: now.Add(-d)}
	}
	four, six := netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")
	for name, c := range map[string]struct {
		pool          netip.Prefix
		rec           ipam.PoolRegion
		need, largest int
		want          int
	}{
		"FirstLoanHoldsSixtyFour":            {four, ipam.PoolRegion{Loan: -1}, 28, 8, 22},
		"FirstLoanOfIPv6":                    {six, ipam.PoolRegion{Loan: -1}, 64, 32, 58},
		"TwiceAQuicklyUsedLoan":              {four, ago(10, 29*time.Minute), 32, 8, 21},
		"SameAsALoanThatLastedAsPlanned":     {four, ago(10, 30*time.Minute), 32, 8, 22},
		"SameAsALoanThatLastedALittleLonger": {four, ago(10, 2*time.Hour), 32, 8, 22},
		"HalfOfALongLastingLoan":             {four, ago(10, 2*time.Hour+1), 32, 8, 23},
		"AtMostAQuarterOfTheHomesStock":      {four, ago(20, time.Minute), 32, 16, 18},
		"AtLeastTheNeededLength":             {four, ago(4, 3*time.Hour), 24, 24, 24},
		"WholePoolIfNeeded":                  {four, ipam.PoolRegion{Loan: -1}, 8, 8, 8},
		"AtLeastOneAddress":                  {four, ago(0, 3*time.Hour), 32, 8, 32},
		"OneAddressIfTheHomeHasNoMore":       {four, ago(10, time.Minute), 32, 32, 32},
		"NeverMoreThanThePool":               {netip.MustParsePrefix("10.0.0.0/30"), ago(2, time.Minute), 32, 30, 32},
		"TwiceIfTheClockRanBack":             {four, ago(10, -time.Hour), 32, 8, 21},
		"OneAddressOfAPoolBelowTheFirstLoan": {netip.MustParsePrefix("10.0.0.0/30"), ipam.PoolRegion{Loan: -1}, 32, 30, 32},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, loanLength(c.pool, c.rec, c.need, c.largest, time.Hour, now))
		})
	}
}

func TestLoanLowWaterMark(t *testing.T) {
	t.Parallel()
	pool := netip.MustParsePrefix("10.0.0.0/8")
	for name, c := range map[string]struct{ loan, need, want int }{
		"NothingWasLentYet":        {-1, 28, 28},
		"HalfOfTheLastLoan":        {10, 32, 23},
		"OneClaimIfLarger":         {4, 24, 24},
		"ALoanOfOneAddressIsShort": {0, 32, 32},
		"ALoanOfTwo":               {1, 32, 32},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, lowWater(pool, ipam.PoolRegion{Loan: c.loan}, c.need))
		})
	}
}

func TestRunwayOfARegionsStock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rec := ipam.PoolRegion{Loan: 6, LoanedAt: now.Add(-time.Minute), Lasted: 10 * time.Minute, Stock: ipam.Stock{Free: map[int]int64{26: 1, 27: 1}}}
	got, known := Runway(32, rec, now)
	require.True(t, known)
	require.Equal(t, 15*time.Minute, got, "one and a half loans, of ten minutes each")
	rec.LoanedAt = now.Add(-time.Hour)
	got, _ = Runway(32, rec, now)
	require.Equal(t, 90*time.Minute, got, "the last one lasts an hour already")
	rec.Lasted = 0
	_, known = Runway(32, rec, now)
	require.False(t, known, "one loan says nothing yet")
	rec.Lasted, rec.Stock = 300*24*time.Hour, ipam.Stock{Free: map[int]int64{8: 1}}
	got, _ = Runway(32, rec, now)
	require.Equal(t, MaxRunway, got)
}
