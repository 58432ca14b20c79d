package logs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The reduced search must reach, for each state of the search without swaps, the same state or one that differs by swaps, and no other states.
func TestSwapsHideNoState(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]Bounds{
		"Lost":       {Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, MaxLost: 1},
		"Names":      {Size: 2, Logs: 1, Wants: pair, Names: named, MaxAsks: 1, MaxLost: 1, Sweeps: true},
		"Snapshots":  {Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, Snapshots: true},
		"Four":       {Size: 4, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, Sweeps: true},
		"Containers": {Size: 2, Logs: 2, Wants: []where{Either, Second}, Names: unnamed, MaxAsks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reduced, plain := newSearch(b, Sound), newSearch(b.plain(), Sound)
			require.Empty(t, reduced.run().Broken)
			require.Empty(t, plain.run().Broken)
			for s := range plain.number {
				require.True(t, reduced.anySwap(s, func(n *state) bool {
					_, known := reduced.number[*n]
					return known
				}))
			}
			for s := range reduced.number {
				_, known := plain.number[s]
				require.True(t, known)
			}
		})
	}
}

// The search with short logs must reach exactly the short forms of the states of the search with whole logs.
func TestShortLogsHideNoState(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]Bounds{
		"Lost":      {Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, MaxLost: 1},
		"Snapshots": {Size: 2, Logs: 1, Wants: single, Names: unnamed[:1], MaxAsks: 2, Snapshots: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			long := b
			long.Whole = true
			short, whole := newSearch(b.plain(), Sound), newSearch(long, Sound)
			require.Empty(t, short.run().Broken)
			require.Empty(t, whole.run().Broken)
			forms := map[state]bool{}
			for s := range whole.number {
				short.normalize(&s)
				forms[s] = true
			}
			require.Equal(t, len(forms), len(short.number)) //nolint:testifylint // Len prints both sets
			for s := range forms {
				_, known := short.number[s]
				require.True(t, known)
			}
			t.Logf("%d states, %d with whole logs", len(short.number), len(whole.number))
		})
	}
}

func (b Bounds) plain() Bounds {
	b.Plain = true
	return b
}
