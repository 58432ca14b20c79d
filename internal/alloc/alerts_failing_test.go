package alloc_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// deaf is a store that fails to list the pools of one project.
type deaf struct {
	storage.Store
	to ipam.ID
}

func (d *deaf) PoolList(ctx context.Context, in storage.ProjectKey, after string, limit int) ([]ipam.Pool, error) {
	if in.ID == d.to {
		return nil, ipam.Errorf(ipam.CodeUnavailable, "It does not answer.")
	}
	return d.Store.PoolList(ctx, in, after, limit)
}

// Rules that fail stay due, and here they fill a whole pass of the server. The server must still evaluate the rules of other projects. When the
// failed rules work again, it evaluates these too.
func TestFailingAlertRulesDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("all", "net", 24))
	_, err := b.CreatePool(neighbour, other, root("theirs", "10.0.0.0/24"), usecase.Request{})
	require.NoError(t, err)
	c := claim("all", "theirs", 24)
	c.Spec.PoolRef.Project = other
	_, err = b.CreateClaim(neighbour, other, c, usecase.Request{})
	require.NoError(t, err)
	for i := range 20 {
		b.rule(t, onPools(fmt.Sprintf("r-%d", i), 100))
	}
	b.clock.move(time.Second)
	_, err = b.CreateAlertRule(neighbour, other, onPools("full", 100), usecase.Request{})
	require.NoError(t, err)

	p, err := b.GetProject(b.ctx, project)
	require.NoError(t, err)
	store, _ := b.store(t)
	d := &deaf{store, p.UID}
	s := b.serve(d)
	b.clock.move(pastALook)
	_, err = s.EvaluateAlerts(b.ctx)
	require.Error(t, err)
	changed, err := s.EvaluateAlerts(b.ctx)
	require.NoError(t, err, "they are left alone for a moment")
	require.EqualValues(t, 1, changed, "the neighbour's")
	_, late := s.AlertCounts()
	require.Positive(t, late, "they wait")
	for range 3 {
		b.clock.move(5 * time.Minute)
		_, err = s.EvaluateAlerts(b.ctx)
		require.Error(t, err, "one of them is tried again")
	}
	d.to = ipam.ID{}
	b.clock.move(5 * time.Minute)
	changed, err = s.EvaluateAlerts(b.ctx)
	require.NoError(t, err)
	require.EqualValues(t, 20, changed)
	_, late = s.AlertCounts()
	require.Zero(t, late)
}
