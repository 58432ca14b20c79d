package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// TestClaimIsRefusedIfItsProjectIsDeletedConcurrently deletes a project between a claim's first reads and its transaction. The claim uses a pool of
// another project. If the transaction succeeded, no caller could ever release the claim.
func TestClaimIsRefusedIfItsProjectIsDeletedConcurrently(t *testing.T) {
	t.Parallel()
	foreign := func(c *ipam.Claim) { c.Spec.PoolRef = ref("net") }
	for op, ask := range map[string]func(b *bundle, s *alloc.Service) error{
		"claim_group": func(b *bundle, s *alloc.Service) error {
			_, err := s.CreateClaim(b.ctx, other, claim("c", "net", 28, foreign), usecase.Request{})
			return err
		},
		"claim_batch": func(b *bundle, s *alloc.Service) error {
			_, err := s.CreateClaimBatch(b.ctx, other, []ipam.Claim{claim("c", "net", 28, foreign), claim("d", "net", 28, foreign)}, usecase.Request{})
			return err
		},
	} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			b := setup(t) // it audits the database at the end
			b.neighbour(t)
			b.pool(t, root("net", "10.0.0.0/24", visible(ipam.VisibilityShared)))
			_, err := b.PutPoolGrant(b.ctx, project, "net", ipam.Everybody, usecase.Request{})
			require.NoError(t, err)
			store, _ := b.store(t)
			g := newGate(store, op)
			s := b.serve(g)
			g.close()
			done := make(chan error)
			go func() { done <- ask(b, s) }()
			<-g.arrived
			require.NoError(t, b.DeleteProject(b.ctx, other, usecase.Request{}))
			g.pass()
			require.Equal(t, tenancy.ProjectNotFound(other), <-done)
			require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
			b.purge(t)
		})
	}
}
