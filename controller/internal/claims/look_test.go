package claims

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// TestMissingAddressIsObservedAnewAfterItsInterfaceWasUnknown checks that an observation from before the gap does not count. A new observation waits for
// the whole pause. The end of the pod drops the observation.
func TestMissingAddressIsObservedAnewAfterItsInterfaceWasUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := &core.Pod{
			ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "pod", UID: "pod-1", Annotations: map[string]string{ipam.NetworkStatusAnnotation: "[]"}},
			Status:     core.PodStatus{Phase: core.PodRunning},
		}
		claim := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "claim", UID: "claim-1"}, Status: ipam.IPClaimStatus{CIDR: "10.0.0.1/32"}}
		with := fake.NewClientBuilder().WithObjects(pod).Build()
		r := &Reconciler{Client: with, Live: with, Judge: podstate.Options{VerifyNetworkStatus: true}, Between: between}
		pauseBeforeNextLook := func(by string) time.Duration {
			s, err := r.assessPod(t.Context(), claim, ipam.PodReference{Name: pod.Name, UID: pod.UID}, by)
			require.NoError(t, err)
			return s.again
		}
		require.Equal(t, between, pauseBeforeNextLook("eth1"))
		<-time.After(between / 2)
		require.Equal(t, between/2, pauseBeforeNextLook("eth1"))
		require.Zero(t, pauseBeforeNextLook(""))
		require.Equal(t, between, pauseBeforeNextLook("eth1"))
		require.NoError(t, with.Delete(t.Context(), pod))
		require.Zero(t, pauseBeforeNextLook("eth1"))
		require.Empty(t, r.seen.of)
	})
}
