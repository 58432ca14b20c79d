package claims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

func TestPodsAreRenewedWhileTheyLive(t *testing.T) {
	s := begin(t)
	stop := s.run()
	pod, owner := s.pod("web-0")
	c := s.bound(s.claim("web-0-net", one, owner))
	name, err := realm.NameOf(t.Context(), world.Client)
	require.NoError(t, err)
	consumer := func() *carve.IPConsumer {
		got, err := world.Carve.GetConsumer(t.Context(), s.name, name, string(pod.UID))
		require.NoError(t, err)
		return got
	}
	first := consumer().Status
	require.Equal(t, time.Hour, first.ExpiresAt.Sub(first.RenewedAt))
	s.eventually("renewed", func() bool { return consumer().Status.RenewedAt.After(first.RenewedAt) })
	s.remove(pod)
	s.vanishes(c)
	stop()
	require.Equal(t, carve.IPConsumerPhaseEnded, consumer().Status.Phase)
}
