package claims

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

var claimName = types.NamespacedName{Namespace: "web", Name: "claim"}

func TestObservationOfAnEarlierClaimDoesNotCountForItsSuccessor(t *testing.T) {
	var o observations
	require.Equal(t, time.Hour, o.wait(claimName, "claim-1", "pod-1", time.Hour))
	require.Less(t, o.wait(claimName, "claim-1", "pod-1", time.Hour), time.Hour)
	require.Equal(t, time.Hour, o.wait(claimName, "claim-2", "pod-1", time.Hour))
	require.Len(t, o.of, 1)
	require.Len(t, o.of[claimName].first, 1)
}

func TestObservationIsDroppedWhenItsPodOrClaimHasGone(t *testing.T) {
	var o observations
	for _, pod := range []types.UID{"pod-1", "pod-2", "pod-3"} {
		o.wait(claimName, "claim-1", pod, time.Hour)
	}
	o.forget(claimName, "pod-1")
	require.Equal(t, time.Hour, o.wait(claimName, "claim-1", "pod-1", time.Hour), "a new observation")
	o.keep(claimName, []types.UID{"pod-2"})
	require.Len(t, o.of[claimName].first, 1)
	require.Less(t, o.wait(claimName, "claim-1", "pod-2", time.Hour), time.Hour)
	o.keep(claimName, nil)
	require.Empty(t, o.of)
}
