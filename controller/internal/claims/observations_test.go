package claims

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

var claimName = types.NamespacedName{Namespace: "web", Name: "claim"}

// between is the time until an observation counts. The clock of these tests stands still unless a test waits for a timer.
const between = time.Hour

func TestObservationOfAnEarlierClaimDoesNotCountForItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observations
		require.Equal(t, between, o.wait(claimName, "claim-1", "pod-1", between))
		<-time.After(between)
		require.Zero(t, o.wait(claimName, "claim-1", "pod-1", between))
		require.Equal(t, between, o.wait(claimName, "claim-2", "pod-1", between))
		require.Len(t, o.of, 1)
		require.Len(t, o.of[claimName].first, 1)
	})
}

func TestObservationIsDroppedWhenItsPodOrClaimHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observations
		for _, pod := range []types.UID{"pod-1", "pod-2", "pod-3"} {
			o.wait(claimName, "claim-1", pod, between)
		}
		<-time.After(between)
		o.forget(claimName, "pod-1")
		require.Equal(t, between, o.wait(claimName, "claim-1", "pod-1", between), "a new observation")
		o.keep(claimName, []types.UID{"pod-2"})
		require.Len(t, o.of[claimName].first, 1)
		require.Zero(t, o.wait(claimName, "claim-1", "pod-2", between))
		o.keep(claimName, nil)
		require.Empty(t, o.of)
	})
}
