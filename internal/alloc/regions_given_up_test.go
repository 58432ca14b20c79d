package alloc_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// A server has cached that a pool serves its region. Then the region is removed from the pool. The server must notice that, and get its next claims
// from the home region.
func TestCachedRemovedRegionClaimsFromHome(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "wide", "10.0.0.0/20")
	for _, left := range [][]string{{region, us}, nil} { // the pool still serves another region, or only its home
		w.serving(t, "wide", region, eu, us)
		_, err := w.claimIn(w.ctx, eu, "before", "wide", 28)
		require.NoError(t, err)
		require.NoError(t, w.in[region].DeleteClaim(w.ctx, project, "before", usecase.Request{}))
		w.serving(t, "wide", left...)

		for _, name := range []string{"first", "second"} {
			c, err := w.claimIn(w.ctx, eu, name, "wide", 28)
			require.NoError(t, err)
			require.Equal(t, region, c.Region, "at home")
			require.NoError(t, w.in[eu].DeleteClaim(w.ctx, project, name, usecase.Request{}))
		}
		p, err := w.GetPool(w.ctx, project, "wide", usecase.Reading{})
		require.NoError(t, err)
		require.Len(t, p.Spec.Regions, len(left))
		require.False(t, slices.Contains(p.Spec.Regions, eu))
	}
}
