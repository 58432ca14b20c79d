package telemetry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// remembered is a cache with the given claims.
type remembered struct {
	client.Reader
	claims []ipam.IPClaim
}

func (r remembered) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	all, ok := list.(*ipam.IPClaimList)
	if !ok {
		return errors.New("claims are listed, and nothing else")
	}
	all.Items = r.claims
	return nil
}

func TestLeaderCountsClaimsByState(t *testing.T) {
	t.Parallel()
	claim := func(held bool, set func(*[]meta.Condition, int64, string, string)) (c ipam.IPClaim) {
		if held {
			c.Status.Claim = &ipam.RemoteClaim{}
		}
		set(&c.Status.Conditions, 1, ipam.ReasonReconciled, "")
		return c
	}
	now := meta.Now()
	goes := claim(true, conditions.Done)
	goes.DeletionTimestamp = &now
	leads := make(chan struct{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(&telemetry.Claims{Leads: leads, Cache: remembered{claims: []ipam.IPClaim{
		{}, claim(false, conditions.Working), claim(true, conditions.Done), claim(false, conditions.Stuck), claim(true, conditions.Stuck), claim(true, conditions.Stuck), goes,
	}}})
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Empty(t, families, "who stands by counts nothing: the figures of all replicas can be added")
	close(leads)
	families, err = registry.Gather()
	require.NoError(t, err)
	require.Len(t, families, 1)
	counts := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		counts[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
	}
	assert.Equal(t, map[string]float64{"waiting": 2, "bound": 1, "refused": 1, "drifted": 2, "releasing": 1}, counts)
}
