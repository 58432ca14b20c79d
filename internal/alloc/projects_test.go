package alloc_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestCreatedProjectHasADefaultSpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made, err := b.CreateProject(b.ctx, ipam.Project{
		Metadata: ipam.Metadata{Name: "umbrella", Labels: labels("a", "b")},
		Spec:     ipam.ProjectSpec{DisplayName: "Umbrella", Description: "two\nlines"},
	}, usecase.Request{})
	require.NoError(t, err)
	read, err := b.GetProject(b.ctx, "umbrella")
	require.NoError(t, err)
	require.Equal(t, made.Value, read)
	space, err := b.GetSpace(b.ctx, "umbrella", ipam.DefaultSpace)
	require.NoError(t, err)
	require.Equal(t, "umbrella", space.Project)
	require.Equal(t, region, space.Region)
	_, err = b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, usecase.Request{})
	refused(t, err, ipam.CodeAlreadyExists)
	_, err = b.CreateProject(b.ctx, ipam.Project{Metadata: meta("Umbrella")}, usecase.Request{})
	refused(t, err, ipam.CodeInvalidArgument)
	_, err = b.GetProject(b.ctx, "none")
	refused(t, err, ipam.CodeNotFound)
}

func TestPatchOfAProjectChangesItsFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was, err := b.GetProject(b.ctx, project)
	require.NoError(t, err)
	b.clock.move(time.Minute)
	patch := func(change func(*ipam.Project)) (ipam.Project, error) {
		return b.PatchProject(b.ctx, project, usecase.Request{}, func(p ipam.Project) (ipam.Project, error) { change(&p); return p, nil })
	}
	now, err := patch(func(p *ipam.Project) { p.Spec.DisplayName, p.Annotations = "ACME", labels("a", "b") })
	require.NoError(t, err)
	read, err := b.GetProject(b.ctx, project)
	require.NoError(t, err)
	require.Equal(t, now, read)
	require.Equal(t, was.Generation+1, now.Generation)
	before := b.dump(t)
	again, err := patch(func(p *ipam.Project) { p.Spec.DisplayName = "ACME" })
	require.NoError(t, err)
	require.Equal(t, now, again)
	_, err = patch(func(p *ipam.Project) { p.Spec.DisplayName = "A\nB" })
	refused(t, err, ipam.CodeInvalidArgument)
	_, err = b.PatchProject(b.ctx, "none", usecase.Request{}, func(p ipam.Project) (ipam.Project, error) { return p, nil })
	refused(t, err, ipam.CodeNotFound)
	require.Equal(t, before, b.dump(t))
}

func TestDeleteOfAProjectInUseChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remove := func() *ipam.Error {
		return refused(t, b.DeleteProject(b.ctx, project, usecase.Request{}), ipam.CodeInUse)
	}
	b.pool(t, root("net", "10.0.0.0/16"))
	b.claim(t, claim("c", "net", 24))
	before := b.dump(t)
	e := remove()
	require.Contains(t, e.Message, "1 pool, 1 claim and 0 spaces")
	require.Equal(t, []int64{1, 1, 0}, []int64{*e.Figures.Pools, *e.Figures.Claims, *e.Figures.Spaces})
	refused(t, b.DeleteProject(b.ctx, ipam.PlatformProject, usecase.Request{}), ipam.CodeInUse)
	require.Equal(t, before, b.dump(t))
	b.release(t, "c")
	remove()
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, usecase.Request{})
	require.NoError(t, err)
	remove()
	require.NoError(t, b.DeleteSpace(b.ctx, project, "blue", usecase.Request{}))
	require.NoError(t, b.DeleteProject(b.ctx, project, usecase.Request{}))
	refused(t, b.DeleteProject(b.ctx, project, usecase.Request{}), ipam.CodeNotFound)
}

// After the background jobs have run, a deleted project leaves only two rows in the database. They are events in the audit trail of "platform".
func TestDeletedProjectLeavesOnlyTwoTrailEvents(t *testing.T) {
	t.Parallel()
	b := setupRegions(t)
	_, err := b.ChangesMark(b.ctx) // creates the secret that encrypts cursors
	require.NoError(t, err)
	empty := b.dump(t)
	const name = "umbrella"
	_, err = b.CreateProject(b.ctx, ipam.Project{Metadata: meta(name)}, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreateSpace(b.ctx, name, ipam.Space{Metadata: meta("blue")}, key("s", "s"))
	require.NoError(t, err)
	b.class(t, name, class("std", defaultClass))
	four := root("four", "10.0.0.0/8", backing("std"), func(p *ipam.Pool) { p.Spec.Regions = []string{region, eu, us} }, reserving(ipam.Reservation{First: 7}, ipam.Reservation{Last: 7}))
	six := root("six", "2001:db8::/32")
	six.Spec.Space = ipam.Ref{Project: name, Name: "blue"}
	sub := child("sub", "", 12, reserving(ipam.Reservation{First: 1}))
	sub.Spec.Parent = ipam.Ref{Project: name, Name: "four"}
	for _, p := range []ipam.Pool{four, six, sub} {
		_, err := b.CreatePool(b.ctx, name, p, key(p.Name, p.Name))
		require.NoError(t, err)
	}
	b.furnish(t, name, "four")
	for _, pool := range []string{"four", "six", "sub"} {
		c := claim("c-"+pool, "", 32)
		c.Spec.PoolRef = ipam.Ref{Project: name, Name: pool}
		_, err := b.CreateClaim(b.ctx, name, c, key(c.Name, c.Name))
		require.NoError(t, err)
		require.NoError(t, b.DeleteClaim(b.ctx, name, c.Name, usecase.Request{}))
	}
	far := claim("far", "", 30)
	far.Spec.PoolRef = ipam.Ref{Project: name, Name: "four"}
	_, err = b.in[eu].CreateClaim(b.ctx, name, far, key("far", "far"))
	require.NoError(t, err)
	require.NoError(t, b.DeleteClaim(b.ctx, name, far.Name, usecase.Request{}))
	_, err = b.PutConsumer(b.ctx, name, user("vm"), usecase.Request{})
	require.NoError(t, err)
	_, err = b.ConfirmExpiry(b.ctx, name, ipam.DefaultRealm, usecase.Request{})
	require.NoError(t, err)
	b.hookIn(t, name)
	_, err = b.CreateAlertRule(b.ctx, name, onPools("most", 1), usecase.Request{})
	require.NoError(t, err)
	changed, err := b.EvaluateAlerts(b.ctx)
	require.NoError(t, err)
	require.Positive(t, changed)
	_, err = b.recorder(t).Record(b.ctx)
	require.NoError(t, err)
	for table, n := range counts(b.dump(t)) {
		if !slices.Contains([]string{"removals", "attachments", "regions", "compatibility", "feed", "sessions", "goose_lock", "goose_db_version"}, table) {
			require.Greater(t, n, len(empty[table]), "%s: the test has something to leave behind", table)
		}
	}
	for _, pool := range []string{"sub", "four", "six"} {
		require.NoError(t, b.DeletePool(b.ctx, name, pool, usecase.Request{}))
	}
	require.NoError(t, b.DeleteSpace(b.ctx, name, "blue", usecase.Request{}))
	require.NoError(t, b.DeleteProject(b.ctx, name, usecase.Request{}))
	require.Equal(t, 1, len(b.dump(t)["removals"])-len(empty["removals"]))
	b.purge(t)
	now := b.dump(t)
	require.Equal(t, state(empty), state(now))
	require.Empty(t, now["history"])
	require.Len(t, now["audit_events"], len(empty["audit_events"])+2)
	require.Len(t, b.events(t, ipam.PlatformProject, trail.EventFilter{Kind: "Project", Name: name}), 2)
}

// hookIn gives a project a webhook with an undelivered message.
func (b *bundle) hookIn(t *testing.T, in string) {
	t.Helper()
	store, _ := b.store(t)
	svc := alloc.New(store, alloc.Options{Region: region, Clock: b.clock.read, Webhooks: webhooks.Options{Key: bytes.Repeat([]byte("k"), 32)}})
	made, err := svc.CreateWebhook(b.ctx, in, webhookTo("hook", receiverURL), usecase.Request{})
	require.NoError(t, err)
	b.letters(t, store, made.Value, 1)
}

// furnish gives a project members, keys, grants and quotas.
func (b *bundle) furnish(t *testing.T, in, pool string) {
	t.Helper()
	for i, role := range tenancy.Roles() {
		b.join(t, in, fmt.Sprintf("corp:m%d", i), role)
		b.mint(t, in, apiKey(fmt.Sprintf("k%d", i), role))
		_, err := b.PutPoolGrant(b.ctx, in, pool, fmt.Sprintf("g%d", i), usecase.Request{})
		require.NoError(t, err)
		_, err = b.PutSpaceGrant(b.ctx, in, ipam.DefaultSpace, fmt.Sprintf("g%d", i), usecase.Request{})
		require.NoError(t, err)
		_, err = b.PutQuota(b.ctx, in, quota(fmt.Sprintf("q%d", i), maxClaims(100)), usecase.Request{})
		require.NoError(t, err)
	}
}

func TestProjectWithRetainedForeignBlocksIsNotDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	b.pool(t, root("net", "10.0.0.0/16", func(p *ipam.Pool) { p.Spec.Visibility = ipam.VisibilityShared }))
	_, err := b.PutPoolGrant(b.ctx, project, "net", other, usecase.Request{})
	require.NoError(t, err)
	made, err := b.CreateClaim(neighbour, other, claim("c", "net", 24, retain), usecase.Request{})
	require.NoError(t, err)
	refused(t, b.DeleteProject(b.ctx, other, usecase.Request{}), ipam.CodeInUse)
	require.NoError(t, b.DeleteClaim(neighbour, other, "c", usecase.Request{}))
	before := b.dump(t)
	require.ErrorContains(t, refused(t, b.DeleteProject(b.ctx, other, usecase.Request{}), ipam.CodeInUse), "256 retained addresses")
	require.Equal(t, before, b.dump(t))
	require.NoError(t, b.DeleteAllocation(b.ctx, project, made.Value.AllocationID.String(), usecase.Request{}))
	require.NoError(t, b.DeleteProject(b.ctx, other, usecase.Request{}))
}

func TestOnlyPlatformAdminsCreateAndDeleteProjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	own, stranger := b.acting("corp:admin", tenancy.Admin, project), b.neighbour(t)
	_, err := b.CreateProject(own, ipam.Project{Metadata: meta("mine")}, usecase.Request{})
	refused(t, err, ipam.CodePermissionDenied)
	refused(t, b.DeleteProject(own, project, usecase.Request{}), ipam.CodePermissionDenied)
	refused(t, b.DeleteProject(stranger, project, usecase.Request{}), ipam.CodeNotFound)
	_, err = b.GetProject(stranger, project)
	refused(t, err, ipam.CodeNotFound)
	_, err = b.PatchProject(own, project, usecase.Request{}, func(p ipam.Project) (ipam.Project, error) { p.Spec.DisplayName = "x"; return p, nil })
	require.NoError(t, err)
}

func TestProjectListShowsOnlyProjectsOfTheCaller(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"c", "a", "b"} {
		_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: ipam.Metadata{Name: name, Labels: labels("n", name)}}, usecase.Request{})
		require.NoError(t, err)
	}
	for name, c := range map[string]struct {
		roles map[string]tenancy.Role
		want  []string
	}{
		"Some":                {map[string]tenancy.Role{"c": tenancy.Viewer, "acme": tenancy.Admin, "a": tenancy.Consumer, "gone": tenancy.Admin, "zz": tenancy.Viewer}, []string{"a", "acme", "c"}},
		"None":                {nil, []string{}},
		"OnlyADeletedProject": {map[string]tenancy.Role{"gone": tenancy.Admin}, []string{}},
		"PlatformRole":        {map[string]tenancy.Role{"platform": tenancy.Viewer}, []string{"platform"}},
		"PlatformAdmin":       {map[string]tenancy.Role{"platform": tenancy.Admin, "a": tenancy.Viewer}, []string{"a", "acme", "b", "c", "platform"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := tenancy.WithPrincipal(b.ctx, tenancy.Principal{Subject: "somebody", Roles: c.roles})
			for _, limit := range []int{1, 2, 100} {
				got := []string{}
				for _, p := range all(t, limit, func(n int, cursor string) (paging.Page[ipam.Project], error) {
					return b.ListProjects(ctx, paging.Filter{}, n, cursor, usecase.Reading{})
				}) {
					got = append(got, p.Name)
				}
				require.Equal(t, c.want, got)
			}
		})
	}
}

func TestSpaceLifecycle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue"), Spec: ipam.SpaceSpec{Description: "VRF"}}, usecase.Request{})
	require.NoError(t, err)
	read, err := b.GetSpace(b.ctx, project, "blue")
	require.NoError(t, err)
	require.Equal(t, made.Value, read)
	t.Run("RefusesAnExistingName", func(t *testing.T) {
		for _, name := range []string{"blue", ipam.DefaultSpace} {
			_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta(name)}, usecase.Request{})
			refused(t, err, ipam.CodeAlreadyExists)
		}
	})
	t.Run("UnchangedPatchWritesNothing", func(t *testing.T) {
		before := b.dump(t)
		now, err := b.PatchSpace(b.ctx, project, "blue", usecase.Request{}, func(s ipam.Space) (ipam.Space, error) { return s, nil })
		require.NoError(t, err)
		require.Equal(t, read, now)
		require.Equal(t, before, b.dump(t))
	})
	t.Run("PatchChanges", func(t *testing.T) {
		now, err := b.PatchSpace(b.ctx, project, "blue", usecase.Request{}, func(s ipam.Space) (ipam.Space, error) {
			s.Spec.Description = "another"
			return s, nil
		})
		require.NoError(t, err)
		require.NotEqual(t, read.Revision, now.Revision)
		require.Equal(t, read.Generation+1, now.Generation)
		again, err := b.GetSpace(b.ctx, project, "blue")
		require.NoError(t, err)
		require.Equal(t, now, again)
	})
	t.Run("DeleteIsRefusedWhilePoolsExist", func(t *testing.T) {
		b.pool(t, root("net", "10.0.0.0/8", inSpace("blue")))
		b.pool(t, root("six", "2001:db8::/32", inSpace("blue")))
		before := b.dump(t)
		e := refused(t, b.DeleteSpace(b.ctx, project, "blue", usecase.Request{}), ipam.CodeInUse)
		require.EqualValues(t, 2, *e.Figures.Pools)
		require.Equal(t, before, b.dump(t))
		require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
		refused(t, b.DeleteSpace(b.ctx, project, "blue", usecase.Request{}), ipam.CodeInUse)
		require.NoError(t, b.DeletePool(b.ctx, project, "six", usecase.Request{}))
		require.NoError(t, b.DeleteSpace(b.ctx, project, "blue", usecase.Request{}))
		refused(t, b.DeleteSpace(b.ctx, project, "blue", usecase.Request{}), ipam.CodeNotFound)
	})
	t.Run("DefaultIsDeletedOnlyWithItsProject", func(t *testing.T) {
		refused(t, b.DeleteSpace(b.ctx, project, ipam.DefaultSpace, usecase.Request{}), ipam.CodeInUse)
	})
	_, err = b.GetSpace(b.ctx, project, "none")
	refused(t, err, ipam.CodeNotFound)
	refused(t, b.DeleteSpace(b.ctx, project, "none", usecase.Request{}), ipam.CodeNotFound)
}
