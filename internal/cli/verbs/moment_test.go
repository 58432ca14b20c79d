package verbs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMomentsAreTimesOrAges(t *testing.T) {
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
			m := Moment(func() time.Time { return now })("", false)
			err := m.Set(text)
			if want == "" {
				require.ErrorContains(t, err, "2026-03-03T12:00:00Z, or an age like 90m or 3d")
				require.Empty(t, m.String())
				return
			}
			require.NoError(t, err)
			at, err := time.Parse(time.RFC3339Nano, m.String())
			require.NoError(t, err)
			require.Equal(t, want, at.UTC().Format(time.RFC3339Nano))
		})
	}
}
