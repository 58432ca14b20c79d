package claims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// TestMissingAddressIsObservedAnewAfterItsInterfaceWasUnknown checks that an observation from before the gap does not count. Only a new observation
// waits for the whole pause. The end of the pod drops the observation.
func TestMissingAddressIsObservedAnewAfterItsInterfaceWasUnknown(t *testing.T) {
	s := begin(t)
	pod, owner := s.pod("pod")
	pod.Annotations = map[string]string{ipam.NetworkStatusAnnotation: "[]"}
	require.NoError(t, world.Client.Update(t.Context(), pod))
	claim := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "claim", UID: "claim-1"}, Status: ipam.IPClaimStatus{CIDR: "10.0.0.1/32"}}
	r := &claims.Reconciler{Client: world.Client, Live: world.Client, Judge: podstate.Options{VerifyNetworkStatus: true}, Between: time.Hour}
	pauseBeforeNextLook := func(by string) time.Duration {
		again, err := r.PauseBeforeNextLook(t.Context(), claim, ipam.PodReference{Name: pod.Name, UID: owner.UID}, by)
		require.NoError(t, err)
		return again
	}
	require.Equal(t, time.Hour, pauseBeforeNextLook("eth1"))
	require.NotEqual(t, time.Hour, pauseBeforeNextLook("eth1"), "the observation is older now")
	require.Zero(t, pauseBeforeNextLook(""))
	require.Equal(t, time.Hour, pauseBeforeNextLook("eth1"))
	require.Equal(t, 1, r.Observations())
	s.remove(pod)
	require.Zero(t, pauseBeforeNextLook("eth1"))
	require.Zero(t, r.Observations())
}
