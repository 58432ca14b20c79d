package alloc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// createOnly is the request of a PUT with the header If-None-Match: *.
var createOnly = usecase.Request{CreateOnly: true}

func TestPutHonoursPreconditions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	for _, c := range []struct {
		name string
		put  func(r usecase.Request) (revision ipam.ID, existed bool, err error)
	}{
		{"Claim", func(r usecase.Request) (ipam.ID, bool, error) {
			res, err := b.PutClaim(b.ctx, project, claim("c", "net", 32), r)
			return res.Value.Revision, res.Existed, err
		}},
		{"PoolGrant", func(r usecase.Request) (ipam.ID, bool, error) {
			res, err := b.PutPoolGrant(b.ctx, project, "net", "team", r)
			return res.Value.Revision, res.Existed, err
		}},
		{"SpaceGrant", func(r usecase.Request) (ipam.ID, bool, error) {
			res, err := b.PutSpaceGrant(b.ctx, project, ipam.DefaultSpace, "team", r)
			return res.Value.Revision, res.Existed, err
		}},
		{"Member", func(r usecase.Request) (ipam.ID, bool, error) {
			res, err := b.PutMember(b.ctx, project, ipam.Member{Metadata: meta("corp:m"), Spec: ipam.MemberSpec{Role: "viewer"}}, r)
			return res.Value.Revision, res.Existed, err
		}},
		{"Quota", func(r usecase.Request) (ipam.ID, bool, error) {
			res, err := b.PutQuota(b.ctx, project, ipam.Quota{Metadata: meta("q"), Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Pools: new(int64(7))}}}, r)
			return res.Value.Revision, res.Existed, err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.dump(t)
			for _, r := range []usecase.Request{ifAny, ifMatch(ipam.NewID())} {
				_, _, err := c.put(r)
				require.Equal(t, "header:If-Match", refused(t, err, ipam.CodePreconditionFailed).Fields[0].Pointer, "there is nothing yet")
			}
			require.Equal(t, before, b.dump(t))
			made, existed, err := c.put(createOnly)
			require.NoError(t, err)
			require.False(t, existed)
			before = b.dump(t)
			for _, r := range []usecase.Request{createOnly, {CreateOnly: true, DryRun: true}, {CreateOnly: true, IfMatch: usecase.Match{Any: true}}} {
				_, _, err = c.put(r)
				e := refused(t, err, ipam.CodePreconditionFailed)
				require.Equal(t, "header:If-None-Match", e.Fields[0].Pointer)
				require.Equal(t, made.String(), e.Figures.CurrentRevision)
			}
			_, _, err = c.put(ifMatch(ipam.NewID()))
			require.Equal(t, "header:If-Match", refused(t, err, ipam.CodePreconditionFailed).Fields[0].Pointer)
			again, existed, err := c.put(ifMatch(made))
			require.NoError(t, err)
			require.True(t, existed)
			require.Equal(t, made, again)
			require.Equal(t, before, b.dump(t))
		})
	}
	t.Run("PrecedeSpecDifferences", func(t *testing.T) {
		_, err := b.PutClaim(b.ctx, project, claim("c", "net", 31), createOnly)
		refused(t, err, ipam.CodePreconditionFailed)
		_, err = b.PutClaim(b.ctx, project, claim("c", "net", 31), ifAny)
		refused(t, err, ipam.CodeAlreadyExists)
	})
}

// The claim does not exist at the request's first read, but exists when its transaction runs. The request must fail on this precondition, even if the
// pool has no room either.
func TestCreateOnlyPutRefusesAConcurrentlyCreatedClaim(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]string{"WithRoom": "10.0.0.0/30", "TheLastBlock": "10.0.0.0/32"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := setupGated(t, root("net", block), claim("c", "net", 32))
			g.queue(t, func(ctx context.Context) (ipam.Claim, error) {
				res, err := g.PutClaim(ctx, project, claim("c", "net", 32), createOnly)
				return res.Value, err
			})
			late := g.finish()
			e := refused(t, late[0].err, ipam.CodePreconditionFailed)
			require.Equal(t, "header:If-None-Match", e.Fields[0].Pointer)
		})
	}
}

func TestRefusalExplainsThatAWeakTagNeverMatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	net := b.pool(t, root("net", "10.0.0.0/24"))
	weak := usecase.Request{IfMatch: usecase.Match{Revisions: []string{`W/"` + net.Revision.String() + `"`}}}
	e := refused(t, b.DeletePool(b.ctx, project, "net", weak), ipam.CodePreconditionFailed)
	require.Contains(t, e.Message, "never matches")
	require.Contains(t, e.Message, "without W/")
	require.NotContains(t, e.Message, "has changed since it was read")
	require.Equal(t, net.Revision.String(), e.Figures.CurrentRevision)
	weak.IfMatch.Revisions = append(weak.IfMatch.Revisions, net.Revision.String())
	require.NoError(t, b.DeletePool(b.ctx, project, "net", weak), "a strong one beside it counts")
}
