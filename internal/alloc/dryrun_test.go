package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// The dry run of each use case writes no row. It returns the same result as the real run, except for the ids, which each run generates.
func TestDryRunWritesNothingAndPredictsTheRealRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", strategy(ipam.FirstFit), labelled("x", "y"), reserving(ipam.Reservation{First: 1})))
	b.pool(t, root("full", "10.1.0.0/32"))
	b.pool(t, root("gone", "10.2.0.0/16", reserving(ipam.Reservation{Last: 4})))
	b.claim(t, claim("all", "full", 32))
	b.claim(t, claim("c", "net", 28))
	kept := b.claim(t, claim("kept", "net", 29, retain))
	bound := b.claim(t, claim("bound", "net", 29, retain))
	b.release(t, "kept")
	released := b.claim(t, claim("released", "net", 30, retain))
	b.release(t, "released")
	b.join(t, ipam.PlatformProject, "corp:root", tenancy.Admin)

	same := func(t *testing.T, run func(usecase.Request) (any, error), r usecase.Request) {
		t.Helper()
		before := b.dump(t)
		r.DryRun = true
		foretold, foretoldErr := run(r)
		require.Equal(t, before, b.dump(t), "not one row")
		r.DryRun = false
		got, err := run(r)
		if err != nil {
			var e, f *ipam.Error
			require.ErrorAs(t, err, &e)
			require.ErrorAs(t, foretoldErr, &f)
			require.Equal(t, []any{e.Code, e.Message, e.Fields, e.Figures}, []any{f.Code, f.Message, f.Fields, f.Figures})
			require.Equal(t, before, b.dump(t))
			return
		}
		require.NoError(t, foretoldErr)
		require.Equal(t, got, foretold)
	}
	for _, c := range []struct {
		name string
		run  func(usecase.Request) (any, error)
	}{
		{"CreateProject", func(r usecase.Request) (any, error) {
			return anew(b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, r))
		}},
		{"CreateProjectThatExists", func(r usecase.Request) (any, error) {
			return anew(b.CreateProject(b.ctx, ipam.Project{Metadata: meta(project)}, r))
		}},
		{"PatchProject", func(r usecase.Request) (any, error) {
			return stale(b.PatchProject(b.ctx, "umbrella", r, func(p ipam.Project) (ipam.Project, error) {
				p.Spec.DisplayName = "Umbrella"
				return p, nil
			}))
		}},
		{"DeleteProject", func(r usecase.Request) (any, error) { return nil, b.DeleteProject(b.ctx, "umbrella", r) }},
		{"DeleteProjectInUse", func(r usecase.Request) (any, error) { return nil, b.DeleteProject(b.ctx, project, r) }},
		{"CreateSpace", func(r usecase.Request) (any, error) {
			return anew(b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, r))
		}},
		{"PatchSpace", func(r usecase.Request) (any, error) {
			return stale(b.PatchSpace(b.ctx, project, "blue", r, func(s ipam.Space) (ipam.Space, error) {
				s.Labels = labels("a", "b")
				return s, nil
			}))
		}},
		{"DeleteSpace", func(r usecase.Request) (any, error) { return nil, b.DeleteSpace(b.ctx, project, "blue", r) }},
		{"CreateClass", func(r usecase.Request) (any, error) {
			return anew(b.CreateClass(b.ctx, project, class("std", defaultClass), false, r))
		}},
		{"CreateClassThatExists", func(r usecase.Request) (any, error) {
			return anew(b.CreateClass(b.ctx, project, class("std"), false, r))
		}},
		{"CreateSecondDefaultClass", func(r usecase.Request) (any, error) {
			return anew(b.CreateClass(b.ctx, project, class("second", defaultClass), false, r))
		}},
		{"CreateClassInsteadOfTheDefault", func(r usecase.Request) (any, error) {
			return anew(b.CreateClass(b.ctx, project, class("second", defaultClass), true, r))
		}},
		{"PatchClass", func(r usecase.Request) (any, error) {
			return stale(b.patchClass("second", false, r, func(s *ipam.ClassSpec) { s.Description = "x" }))
		}},
		{"PatchClassToBeASecondDefault", func(r usecase.Request) (any, error) {
			return stale(b.patchClass("std", false, r, defaultClass))
		}},
		{"PatchClassToBeTheDefault", func(r usecase.Request) (any, error) {
			return stale(b.patchClass("std", true, r, defaultClass))
		}},
		{"CreatePoolOfAClass", func(r usecase.Request) (any, error) {
			return anew(b.CreatePool(b.ctx, project, root("backing", "10.4.0.0/16", backing("std")), r))
		}},
		{"CreatePoolOfNoClass", func(r usecase.Request) (any, error) {
			return anew(b.CreatePool(b.ctx, project, root("backing2", "10.5.0.0/16", backing("std", "none")), r))
		}},
		{"PatchPoolToBackAClass", func(r usecase.Request) (any, error) { return stale(b.patch("backing", r, backing("second", "std"))) }},
		{"DeleteClassInUse", func(r usecase.Request) (any, error) { return nil, b.DeleteClass(b.ctx, project, "std", r) }},
		{"PatchPoolToBackNoClass", func(r usecase.Request) (any, error) { return stale(b.patch("backing", r, backing())) }},
		{"DeleteClass", func(r usecase.Request) (any, error) { return nil, b.DeleteClass(b.ctx, project, "std", r) }},
		{"CreateRootPool", func(r usecase.Request) (any, error) {
			return anew(b.CreatePool(b.ctx, project, root("root", "10.3.0.0/16", reserving(ipam.Reservation{First: 3})), r))
		}},
		{"CreateRootPoolThatOverlaps", func(r usecase.Request) (any, error) {
			return anew(b.CreatePool(b.ctx, project, root("other", "10.0.0.0/8"), r))
		}},
		{"CreateChildPool", func(r usecase.Request) (any, error) {
			return anew(b.CreatePool(b.ctx, project, child("sub", "root", 20), r))
		}},
		{"CreateChildPoolWithoutRoom", func(r usecase.Request) (any, error) {
			return anew(b.CreatePool(b.ctx, project, child("sub2", "full", 32), r))
		}},
		{"PatchPool", func(r usecase.Request) (any, error) {
			return stale(b.patch("net", r, reserving(ipam.Reservation{Last: 1})))
		}},
		{"PatchPoolOverHeldBlocks", func(r usecase.Request) (any, error) {
			return stale(b.patch("net", r, reserving(ipam.Reservation{First: 200})))
		}},
		{"DeletePool", func(r usecase.Request) (any, error) { return nil, b.DeletePool(b.ctx, project, "gone", r) }},
		{"DeletePoolInUse", func(r usecase.Request) (any, error) { return nil, b.DeletePool(b.ctx, project, "net", r) }},
		{"CreateClaim", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaim(b.ctx, project, claim("d", "net", 30), r))
		}},
		{"CreateClaimBySelector", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaim(b.ctx, project, selecting("e", matching("x", "y"), length(32)), r))
		}},
		{"CreateClaimThatExists", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaim(b.ctx, project, claim("c", "net", 30), r))
		}},
		{"CreateClaimInAFullPool", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaim(b.ctx, project, claim("f", "full", 32), r))
		}},
		{"CreateClaimOfATakenBlock", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaim(b.ctx, project, claimOf("f", "net", exactly(kept.Block.String())), r))
		}},
		{"CreateClaimOfARetainedAllocation", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaim(b.ctx, project, again("g", kept.AllocationID), r))
		}},
		{"CreateClaimOfABoundAllocation", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaim(b.ctx, project, again("h", bound.AllocationID), r))
		}},
		{"PutClaim", func(r usecase.Request) (any, error) {
			return anew(b.PutClaim(b.ctx, project, claim("p", "net", 32), r))
		}},
		{"PutClaimThatExists", func(r usecase.Request) (any, error) {
			return anew(b.PutClaim(b.ctx, project, claim("p", "net", 32), r))
		}},
		{"PutClaimThatDiffers", func(r usecase.Request) (any, error) {
			return anew(b.PutClaim(b.ctx, project, claim("p", "net", 31), r))
		}},
		{"PatchClaim", func(r usecase.Request) (any, error) { return stale(b.patchClaim("c", r, retain)) }},
		{"DeleteClaimUnderRetain", func(r usecase.Request) (any, error) { return nil, b.DeleteClaim(b.ctx, project, "c", r) }},
		{"DeleteClaimUnderDelete", func(r usecase.Request) (any, error) { return nil, b.DeleteClaim(b.ctx, project, "d", r) }},
		{"DeleteClaimThatIsNotThere", func(r usecase.Request) (any, error) { return nil, b.DeleteClaim(b.ctx, project, "d", r) }},
		{"CreateClaimBatch", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("b1", "net", 32), selecting("b2", matching("x", "y"), length(31))}, r))
		}},
		{"CreateClaimBatchThatDoesNotFit", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("b3", "net", 32), claim("b4", "full", 32)}, r))
		}},
		{"PutMember", func(r usecase.Request) (any, error) {
			return anew(b.PutMember(b.ctx, project, member("corp:alice", tenancy.Viewer), r))
		}},
		{"PutMemberAgain", func(r usecase.Request) (any, error) {
			return anew(b.PutMember(b.ctx, project, member("corp:alice", tenancy.Admin), r))
		}},
		{"DeleteMember", func(r usecase.Request) (any, error) { return nil, b.DeleteMember(b.ctx, project, "corp:alice", r) }},
		{"DeleteLastAdmin", func(r usecase.Request) (any, error) {
			return nil, b.DeleteMember(b.ctx, ipam.PlatformProject, "corp:root", r)
		}},
		{"CreateKey", func(r usecase.Request) (any, error) {
			return anew(b.CreateKey(b.ctx, project, apiKey("ci", tenancy.Viewer), r))
		}},
		{"CreateKeyThatExists", func(r usecase.Request) (any, error) {
			return anew(b.CreateKey(b.ctx, project, apiKey("ci", tenancy.Viewer), r))
		}},
		{"DeleteKey", func(r usecase.Request) (any, error) { return nil, b.DeleteKey(b.ctx, project, "ci", r) }},
		{"PutPoolGrant", func(r usecase.Request) (any, error) { return anew(b.PutPoolGrant(b.ctx, project, "net", "*", r)) }},
		{"PutPoolGrantThatExists", func(r usecase.Request) (any, error) { return anew(b.PutPoolGrant(b.ctx, project, "net", "*", r)) }},
		{"DeletePoolGrant", func(r usecase.Request) (any, error) { return nil, b.DeletePoolGrant(b.ctx, project, "net", "*", r) }},
		{"PutSpaceGrant", func(r usecase.Request) (any, error) {
			return anew(b.PutSpaceGrant(b.ctx, project, "default", "b", r))
		}},
		{"DeleteSpaceGrant", func(r usecase.Request) (any, error) {
			return nil, b.DeleteSpaceGrant(b.ctx, project, "default", "b", r)
		}},
		{"PutQuota", func(r usecase.Request) (any, error) {
			return anew(b.PutQuota(b.ctx, project, quota("q", maxClaims(9), maxPools(5)), r))
		}},
		{"PutQuotaAgain", func(r usecase.Request) (any, error) {
			return anew(b.PutQuota(b.ctx, project, quota("q", maxClaims(1)), r))
		}},
		{"PutQuotaOfAnotherScope", func(r usecase.Request) (any, error) {
			return anew(b.PutQuota(b.ctx, project, quota("q", maxClaims(1), ofFamily(ipam.IPv4)), r))
		}},
		{"CreateClaimOverItsQuota", func(r usecase.Request) (any, error) {
			return anew(b.CreateClaim(b.ctx, project, claim("over", "net", 32), r))
		}},
		{"DeleteQuota", func(r usecase.Request) (any, error) { return nil, b.DeleteQuota(b.ctx, project, "q", r) }},
		{"DeleteRetainedAllocation", func(r usecase.Request) (any, error) {
			return nil, b.DeleteAllocation(b.ctx, project, released.AllocationID.String(), r)
		}},
		{"DeleteBoundAllocation", func(r usecase.Request) (any, error) {
			return nil, b.DeleteAllocation(b.ctx, project, bound.AllocationID.String(), r)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, c.run, key(c.name, c.name)) })
	}
}

// anew removes the generated ids and the times from a result, so that two runs compare equal.
func anew[T any](r usecase.Result[T], err error) (any, error) {
	value, err := stale(r.Value, err)
	return [2]any{value, r.Existed}, err
}

func stale(value any, err error) (any, error) {
	wipe := func(m *ipam.Metadata) {
		m.UID, m.Revision, m.CreatedAt, m.UpdatedAt = ipam.ID{}, ipam.ID{}, time.Time{}, time.Time{}
	}
	switch v := value.(type) {
	case ipam.Project:
		wipe(&v.Metadata)
		return v, err
	case ipam.Space:
		wipe(&v.Metadata)
		v.ContainerV4, v.ContainerV6 = ipam.ID{}, ipam.ID{}
		return v, err
	case ipam.Pool:
		wipe(&v.Metadata)
		return v, err
	case ipam.Class:
		wipe(&v.Metadata)
		return v, err
	case ipam.Member:
		wipe(&v.Metadata)
		return v, err
	case ipam.APIKey:
		wipe(&v.Metadata)
		v.Hash, v.Token = nil, ""
		return v, err
	case ipam.Grant:
		wipe(&v.Metadata)
		return v, err
	case ipam.Quota:
		wipe(&v.Metadata)
		return v, err
	case ipam.Claim:
		if v.AllocationID == ipam.DerivedID(v.UID, "allocation") {
			v.AllocationID = ipam.ID{}
		}
		wipe(&v.Metadata)
		return v, err
	case []ipam.Claim:
		out := make([]any, len(v))
		for i := range v {
			out[i], _ = stale(v[i], nil)
		}
		return out, err
	}
	return value, err
}

func TestDryRunStoresNoResponseForItsKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	r := key("k", "claim c")
	r.DryRun = true
	_, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32), r)
	require.NoError(t, err)
	r.DryRun = false
	got, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32), r)
	require.NoError(t, err)
	require.False(t, got.Replayed)
}

func TestDryRunDoesNotWaitForLocks(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	r, err := g.CreateClaim(g.ctx, project, claim("c", "net", 32), dry)
	require.NoError(t, err, "though a transaction on the pool is under way")
	require.True(t, r.Value.Block.IsValid())
	g.finish()
}
