package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMomentsAreTimesOrHowLongAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 6, 12, 0, 0, 999, time.UTC)
	for text, want := range map[string]string{
		"2026-03-03T12:00:00Z":           "2026-03-03T12:00:00Z",
		"2026-03-03T12:00:00.25+02:00":   "2026-03-03T10:00:00.25Z",
		"90m":                            "2026-03-06T10:30:00Z",
		"3d":                             "2026-03-03T12:00:00Z",
		"1d12h":                          "2026-03-05T00:00:00Z",
		"36500d":                         now.AddDate(0, 0, -36500).Truncate(time.Second).Format(time.RFC3339),
		"1s":                             "2026-03-06T11:59:59Z",
		"0d1s":                           "2026-03-06T11:59:59Z",
		"2026-03-03t12:00:00z":           "",
		"2026-03-03":                     "",
		"2026-03-03 12:00:00Z":           "",
		"yesterday":                      "",
		"-3d":                            "",
		"3d-1h":                          "",
		"-1h":                            "",
		"0s":                             "",
		"0d":                             "",
		"d":                              "",
		"1.5d":                           "",
		"36501d":                         "",
		"99999999999999999999d":          "",
		"2540400h10m10.000000000000001s": "",
		"":                               "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			m := moment{now: func() time.Time { return now }}
			err := m.Set(text)
			if want == "" {
				require.ErrorContains(t, err, "2026-03-03T12:00:00Z, or how long ago, like 90m or 3d")
				require.Nil(t, m.at)
				return
			}
			require.NoError(t, err)
			require.Equal(t, want, m.at.UTC().Format(time.RFC3339Nano))
		})
	}
}

func TestBarsShowHowFullSomethingIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ used, limit, want string }{
		{"0", "10", "[..........] 0%"},
		{"1", "1000", "[#.........] 0%"},
		{"5", "10", "[#####.....] 50%"},
		{"999", "1000", "[#########.] 99%"},
		{"10", "10", "[##########] 100%"},
		{"15", "10", "[##########] 150%"},
		{"0", "0", "[##########] of 0"},
		{"170141183460469231731687303715884105728", "340282366920938463463374607431768211456", "[#####.....] 50%"},
		{"340282366920938463463374607431768211456", "1", "[##########] 34028236692093846346337460743176821145600%"},
		{"5", "", ""},
		{"much", "more", ""},
	} {
		require.Equal(t, c.want, bar(c.used, c.limit), c)
	}
}

func TestRateLimitsAreReadForPeople(t *testing.T) {
	t.Parallel()
	require.Equal(t, "200 writes in 2 s", policyText(`"writes";q=200;w=2`))
	require.Equal(t, "as it came", policyText("as it came"))
	require.Empty(t, policyText(""))
}
