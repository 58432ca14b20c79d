package alloc_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// remembering has a second server, far. This server has made a claim on a pool, so it has cached the pool and its project. The tests make all changes
// on the bundle's own server.
type remembering struct {
	*bundle
	t    *testing.T
	far  *alloc.Service
	seen *attempts
}

func setupCached(t *testing.T) remembering {
	t.Helper()
	r := remembering{bundle: setup(t), t: t}
	r.far, r.seen = r.server(t)
	r.pool(t, root("net", "10.0.0.0/24", bounds(26, 30)))
	r.must("first", 28)
	return r
}

func (r remembering) claimFar(name string, bits int) (ipam.Claim, error) {
	made, err := r.far.CreateClaim(r.ctx, project, claim(name, "net", bits), usecase.Request{})
	return made.Value, err
}

func (r remembering) must(name string, bits int) ipam.Claim {
	r.t.Helper()
	c, err := r.claimFar(name, bits)
	require.NoError(r.t, err)
	return c
}

// reads counts the server's reads outside transactions.
func (r remembering) reads() int {
	return r.seen.count("project_get", "committed") + r.seen.count("claim_lookup", "committed") + r.seen.count("claim_get", "committed") +
		r.seen.count("pool_get_by_id", "committed")
}

func TestClaimOnACachedPoolIsOneTransaction(t *testing.T) {
	t.Parallel()
	r := setupCached(t)
	before, groups := r.reads(), r.seen.count("claim_group", "committed")
	r.must("second", 28)
	require.Equal(t, before, r.reads())
	require.Equal(t, groups+1, r.seen.count("claim_group", "committed"))
	before = r.reads()
	require.NoError(t, r.far.DeleteClaim(r.ctx, project, "second", usecase.Request{}))
	require.Equal(t, before+1, r.reads(), "the pool, for the first time")
	before = r.reads()
	require.NoError(t, r.far.DeleteClaim(r.ctx, project, "first", usecase.Request{}))
	require.Equal(t, before, r.reads())
	r.claim(t, claim("elsewhere", "net", 28))
	require.NoError(t, r.far.DeleteClaim(r.ctx, project, "elsewhere", usecase.Request{}))
	require.Equal(t, before+1, r.reads(), "a claim that was made by another server")
}

func TestClaimCacheNeverServesStaleClaims(t *testing.T) {
	t.Parallel()
	r := setupCached(t)
	release := func(q usecase.Request) error { return r.far.DeleteClaim(r.ctx, project, "first", q) }
	relabel := func() ipam.Claim {
		t.Helper()
		c, err := r.PatchClaim(r.ctx, project, "first", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) {
			c.Labels, c.Spec.ReclaimPolicy = labels("patched", "yes"), ipam.ReclaimRetain
			return c, nil
		})
		require.NoError(t, err)
		return c
	}
	t.Run("Patched", func(t *testing.T) {
		relabel()
		require.NoError(t, release(usecase.Request{}))
		require.True(t, slices.ContainsFunc(r.events(t, project, trail.EventFilter{}), func(e ipam.Event) bool {
			return e.After == nil && strings.Contains(string(e.Before), "patched")
		}), "the trail says what was deleted")
		held, err := r.ListAllocations(r.ctx, project, paging.Filter{}, 10, "", usecase.Reading{})
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(held.Items, func(a ipam.Allocation) bool { return a.Phase == ipam.PhaseRetained }), "and its block stays")
	})
	t.Run("WithIfMatch", func(t *testing.T) {
		old := r.must("first", 28)
		now := relabel()
		refused(t, release(ifMatch(old.Revision)), ipam.CodePreconditionFailed)
		require.NoError(t, release(ifMatch(now.Revision)))
	})
	t.Run("Released", func(t *testing.T) {
		r.must("first", 28)
		r.release(t, "first")
		refused(t, release(usecase.Request{}), ipam.CodeNotFound)
	})
	t.Run("Recreated", func(t *testing.T) {
		r.must("first", 28)
		r.release(t, "first")
		r.claim(t, claim("first", "net", 28))
		require.NoError(t, release(usecase.Request{}))
		_, err := r.GetClaim(r.ctx, project, "first", usecase.Reading{})
		refused(t, err, ipam.CodeNotFound)
	})
}

func TestPoolCacheNeverServesStalePools(t *testing.T) {
	t.Parallel()
	t.Run("WiderPolicyServes", func(t *testing.T) {
		t.Parallel()
		r := setupCached(t)
		_, err := r.claimFar("too-small", 31)
		refused(t, err, ipam.CodePrefixLengthRejected)
		_, err = r.patch("net", usecase.Request{}, func(p *ipam.Pool) { hi := 32; p.Spec.Allocation.MaxPrefixLength = &hi })
		require.NoError(t, err)
		require.Equal(t, 31, r.must("small", 31).Block.Bits())
	})
	t.Run("NarrowerPolicyRefuses", func(t *testing.T) {
		t.Parallel()
		r := setupCached(t)
		_, err := r.patch("net", usecase.Request{}, func(p *ipam.Pool) { hi := 27; p.Spec.Allocation.MaxPrefixLength = &hi })
		require.NoError(t, err)
		_, err = r.claimFar("second", 28)
		refused(t, err, ipam.CodePrefixLengthRejected)
		require.Equal(t, 27, r.must("third", 27).Block.Bits())
	})
	t.Run("ChangedStrategyApplies", func(t *testing.T) {
		t.Parallel()
		r := setupCached(t)
		require.NoError(t, r.far.DeleteClaim(r.ctx, project, "first", usecase.Request{}))
		_, err := r.patch("net", usecase.Request{}, func(p *ipam.Pool) { p.Spec.Allocation.Strategy = ipam.Sparse })
		require.NoError(t, err)
		one, two := r.must("one", 28), r.must("two", 28)
		require.NotEqual(t, one.Block.Addr().As4()[3]/128, two.Block.Addr().As4()[3]/128, "sparse blocks are far from each other")
	})
	t.Run("RecreatedPool", func(t *testing.T) {
		t.Parallel()
		r := setupCached(t)
		r.release(t, "first")
		require.NoError(t, r.DeletePool(r.ctx, project, "net", usecase.Request{}))
		_, err := r.claimFar("nowhere", 28)
		refused(t, err, ipam.CodeNotFound)
		now := r.pool(t, root("net", "10.9.0.0/24"))
		require.Equal(t, now.UID, r.must("second", 28).PoolID)
	})
	t.Run("RecreatedProject", func(t *testing.T) {
		t.Parallel()
		r := setupCached(t)
		r.release(t, "first")
		require.NoError(t, r.DeletePool(r.ctx, project, "net", usecase.Request{}))
		require.NoError(t, r.DeleteProject(r.ctx, project, usecase.Request{}))
		_, err := r.claimFar("nowhere", 28)
		require.Contains(t, refused(t, err, ipam.CodeNotFound).Message, "roject")
		_, err = r.far.GetClaim(r.ctx, project, "first", usecase.Reading{})
		require.Contains(t, refused(t, err, ipam.CodeNotFound).Message, "roject")
		now, err := r.CreateProject(r.ctx, ipam.Project{Metadata: meta(project)}, usecase.Request{})
		require.NoError(t, err)
		r.pool(t, root("net", "10.9.0.0/24"))
		made := r.must("second", 28)
		require.Equal(t, now.Value.UID, made.ProjectID)
		r.claim(t, claim("third", "net", 28))
		require.NoError(t, r.far.DeleteClaim(r.ctx, project, "third", usecase.Request{}))
	})
}

// A project is deleted and created again, while another server has cached the old project. Nothing notifies this server of the change.
func TestClaimIsFoundInARecreatedProject(t *testing.T) {
	t.Parallel()
	r := setupCached(t)
	r.release(t, "first")
	require.NoError(t, r.DeletePool(r.ctx, project, "net", usecase.Request{}))
	require.NoError(t, r.DeleteProject(r.ctx, project, usecase.Request{}))
	_, err := r.CreateProject(r.ctx, ipam.Project{Metadata: meta(project)}, usecase.Request{})
	require.NoError(t, err)
	r.pool(t, root("net", "10.9.0.0/24"))
	made := r.claim(t, claim("first", "net", 28))
	got, err := r.far.GetClaim(r.ctx, project, "first", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, made.UID, got.UID)
}

func TestCachedPoolIsRefusedAfterItsGrantIsDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	neighbour := b.neighbour(t)
	b.pool(t, root("net", "10.0.0.0/24", func(p *ipam.Pool) { p.Spec.Visibility = ipam.VisibilityShared }))
	grant := func() {
		t.Helper()
		_, err := b.PutPoolGrant(b.ctx, project, "net", other, usecase.Request{})
		require.NoError(t, err)
	}
	try := func(name string) error {
		_, err := far.CreateClaim(neighbour, other, claim(name, "net", 28), usecase.Request{})
		return err
	}
	never := refused(t, try("never"), ipam.CodeNotFound)
	grant()
	require.NoError(t, try("one"))
	require.NoError(t, try("two"))
	require.NoError(t, b.DeletePoolGrant(b.ctx, project, "net", other, usecase.Request{}))
	require.Equal(t, never.Message, refused(t, try("three"), ipam.CodeNotFound).Message)
	grant()
	require.NoError(t, try("four"))
	_, err := b.patch("net", usecase.Request{}, func(p *ipam.Pool) { p.Spec.Visibility = ipam.VisibilityConsumer })
	require.NoError(t, err)
	require.Equal(t, never.Message, refused(t, try("five"), ipam.CodeNotFound).Message)
}

func TestCachedNameConflictIsReported(t *testing.T) {
	t.Parallel()
	r := setupCached(t)
	_, err := r.claimFar("first", 28)
	refused(t, err, ipam.CodeAlreadyExists)

	t.Run("WithoutASecondTransaction", func(t *testing.T) {
		groups := r.seen.count("claim_group", "committed") + r.seen.count("claim_group", "refused")
		_, err := r.claimFar("first", 28)
		refused(t, err, ipam.CodeAlreadyExists)
		require.Equal(t, groups, r.seen.count("claim_group", "committed")+r.seen.count("claim_group", "refused"), "whoever repeats himself disturbs no group")
		r.clock.move(time.Minute)
		before := r.reads()
		r.must("fresh", 28)
		require.Equal(t, before, r.reads(), "it is forgiven")
	})
	t.Run("InAFullPool", func(t *testing.T) {
		r.pool(t, root("tiny", "10.1.0.0/30"))
		keyed := key("k", "content")
		first, err := r.far.CreateClaim(r.ctx, project, claim("whole", "tiny", 30), keyed)
		require.NoError(t, err)
		_, err = r.far.CreateClaim(r.ctx, project, claim("whole", "tiny", 30), usecase.Request{})
		refused(t, err, ipam.CodeAlreadyExists)
		r.clock.move(time.Minute)
		again, err := r.far.CreateClaim(r.ctx, project, claim("whole", "tiny", 30), keyed)
		require.NoError(t, err)
		require.True(t, again.Replayed)
		require.Equal(t, first.Value.Block, again.Value.Block)
		_, err = r.far.CreateClaim(r.ctx, project, claim("another", "tiny", 30), usecase.Request{})
		refused(t, err, ipam.CodePoolExhausted)
	})
}
