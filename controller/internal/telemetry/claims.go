package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	api "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// Claims counts the IPClaims in the cache by state, at each scrape. Only the leader counts, so that the figures of all replicas can be added.
type Claims struct {
	// Cache is the manager's cache.
	Cache client.Reader
	// Leads is closed once this replica becomes the leader.
	Leads <-chan struct{}
}

var ofClaims = prometheus.NewDesc("carve_controller_claims", "Number of IPClaims in the cluster, by state.", []string{"state"}, nil)

// IPClaim states.
const (
	stateBound     = "bound"     // Carve holds its block
	stateWaiting   = "waiting"   // no result yet
	stateRefused   = "refused"   // Carve has refused it
	stateDrifted   = "drifted"   // Carve has released or replaced it
	stateReleasing = "releasing" // being deleted; waits until its block is released
)

// Describe implements prometheus.Collector.
func (c *Claims) Describe(to chan<- *prometheus.Desc) { to <- ofClaims }

// Collect implements prometheus.Collector.
func (c *Claims) Collect(to chan<- prometheus.Metric) {
	select {
	case <-c.Leads:
	default:
		return
	}
	const patience = time.Second
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	var all ipam.IPClaimList
	if err := c.Cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		to <- prometheus.NewInvalidMetric(ofClaims, err)
		return
	}
	counts := map[string]int{stateBound: 0, stateWaiting: 0, stateRefused: 0, stateDrifted: 0, stateReleasing: 0}
	for i := range all.Items {
		counts[stateOf(&all.Items[i])]++
	}
	for state, n := range counts {
		to <- prometheus.MustNewConstMetric(ofClaims, prometheus.GaugeValue, float64(n), state)
	}
}

// stateOf returns an IPClaim's state.
func stateOf(claim *ipam.IPClaim) string {
	switch s := &claim.Status; {
	case !claim.DeletionTimestamp.IsZero():
		return stateReleasing
	case api.IsStatusConditionTrue(s.Conditions, conditions.Ready):
		return stateBound
	case api.IsStatusConditionTrue(s.Conditions, conditions.Stalled) && s.Claim != nil:
		return stateDrifted
	case api.IsStatusConditionTrue(s.Conditions, conditions.Stalled):
		return stateRefused
	default:
		return stateWaiting
	}
}
