package logs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The searches run one after another, because each needs up to some hundred megabytes.
func TestExhaustiveSearchFindsNoBrokenPromise(t *testing.T) {
	t.Parallel()
	searches := defaults
	if *large == "large" {
		searches = larges
	}
	for _, one := range searches {
		t.Run(one.name, func(t *testing.T) {
			start := time.Now()
			found := Check(one.bounds, Sound)
			t.Logf("%v, %v", found, time.Since(start).Round(time.Millisecond))
			require.Empty(t, found.Broken)
			assert.Equal(t, [...]int{one.states, one.transitions, one.depth}, [...]int{found.States, found.Transitions, found.Depth},
				"states, transitions, depth")
		})
	}
}

// A collector that waits for all users of a row makes the row before a new one unnecessary. The wait stands for limits of time: on the age of
// a cached fold that a server uses, and on the duration of a commit.
func TestGraceReplacesTheRowBefore(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]Bounds{
		"StaleServers": {Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, Snapshots: true, Grace: true},
		"LateCommits":  {Size: 2, Logs: 1, Wants: single, Names: unnamed[:1], MaxAsks: 2, MaxLost: 1, Snapshots: true, Grace: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := Check(b, AbsentKeyOnly)
			t.Log(found)
			require.Empty(t, found.Broken)
			b.Grace = false
			require.NotEmpty(t, Check(b, AbsentKeyOnly).Broken)
		})
	}
}
