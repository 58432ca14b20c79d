package alloc_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Three requests run at the same time. One removes a class from the last pool that backs it, one deletes the class, and one claims by the class. If
// the claim succeeds, the class stays. Otherwise, the claim is refused.
func TestClassIsNotDeletedDuringAClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	servers := b.servers(t, 2)
	for round := range 12 {
		name := fmt.Sprintf("c%d", round)
		b.class(t, project, class(name))
		b.pool(t, root(name, fmt.Sprintf("10.%d.0.0/16", round), backing(name)))
		results := newLedger()
		var claimed, gone error
		var wg sync.WaitGroup
		wg.Go(func() {
			_, claimed = servers[0].CreateClaim(b.ctx, project, byClass(name, name, length(24)), usecase.Request{})
			results.expect(claimed, ipam.CodeNotFound, ipam.CodeNoPoolForClass)
		})
		wg.Go(func() {
			_, err := servers[1].PatchPool(b.ctx, project, name, usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) { p.Spec.ClassNames = nil; return p, nil })
			results.expect(err)
			gone = servers[1].DeleteClass(b.ctx, project, name, usecase.Request{})
			results.expect(gone, ipam.CodeInUse)
		})
		wg.Wait()
		require.Empty(t, results.odd)
		require.Equal(t, claimed == nil, ipam.IsCode(gone, ipam.CodeInUse), "round %d: %v, %v", round, claimed, gone)
	}
}
