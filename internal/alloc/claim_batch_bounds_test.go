package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// TestBatchSearchIsBounded makes batches of claims that all differ. Each claim needs a search in all pools of the project. So the server limits the
// number of different claims in a batch.
func TestBatchSearchIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16", labelled("for", "hosts")))
	selectors := func(n int) (out []ipam.Claim) {
		for i := range n {
			c := selecting(fmt.Sprintf("s%d", i), matching("for", "hosts"), length(32))
			c.Spec.PoolSelector.MatchExpressions = []ipam.Requirement{{Key: fmt.Sprintf("k%d", i), Operator: "DoesNotExist"}}
			out = append(out, c)
		}
		return out
	}
	asks := func(n int) (out []ipam.Claim) {
		for i := range n {
			out = append(out, selecting(fmt.Sprintf("a%d", i), matching("for", "hosts"), hostAddress(fmt.Sprintf("10.0.1.%d", i))))
		}
		return out
	}
	for _, c := range []struct {
		name  string
		limit int
		batch func(n int) []ipam.Claim
	}{{"Selectors", 16, selectors}, {"Requests", 128, asks}} {
		_, err := b.CreateClaimBatch(b.ctx, project, c.batch(c.limit+1), usecase.Request{})
		e := refused(t, err, ipam.CodeInvalidArgument)
		require.Equal(t, fmt.Sprintf("/claims/%d/spec/poolSelector", c.limit), e.Fields[0].Pointer, c.name)
		_, err = b.CreateClaimBatch(b.ctx, project, c.batch(c.limit), usecase.Request{DryRun: true})
		require.NoError(t, err, c.name)
	}
	same := make([]ipam.Claim, 300) // equal claims count once
	for i := range same {
		same[i] = selecting(fmt.Sprintf("m%d", i), matching("for", "hosts"), length(32))
	}
	b.batch(t, same...)
}
