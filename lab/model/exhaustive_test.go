package model

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExhaustiveSearchFindsNoBrokenPromise(t *testing.T) {
	t.Parallel()
	searches := defaults
	if *large == "large" {
		searches = larges
	}
	for _, one := range searches {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			found := Check(one.bounds, Sound)
			t.Logf("%v, %d bytes each, %v", found, found.StateBytes, time.Since(start).Round(time.Millisecond))
			require.Empty(t, found.Broken)
			assert.Equal(t, [...]int{one.states, one.transitions, one.depth}, [...]int{found.States, found.Transitions, found.Depth},
				"states, transitions, depth")
		})
	}
}

// TLC, the model checker of TLA+, found the same counts. So the text and this program are the same model.
func TestSearchFindsTheCountsOfTLC(t *testing.T) {
	t.Parallel()
	for _, one := range byTLC {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			one.bounds.Plain = true
			found := Check(one.bounds, Sound)
			require.Empty(t, found.Broken)
			assert.Equal(t, [...]int{one.states, one.transitions, one.depth}, [...]int{found.States, found.Transitions, found.Depth},
				"states, transitions, depth")
		})
	}
}
