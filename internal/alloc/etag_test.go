package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func ifMatch(revisions ...ipam.ID) usecase.Request {
	r := usecase.Request{}
	for _, id := range revisions {
		r.IfMatch.Revisions = append(r.IfMatch.Revisions, id.String())
	}
	return r
}

var ifAny = usecase.Request{IfMatch: usecase.Match{Any: true}}

func TestPreconditionIsComparedWithTheRevision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	net := b.pool(t, root("net", "10.0.0.0/24"))
	std := b.class(t, project, class("std"))
	made := b.claim(t, claim("c", "net", 32))
	kept := b.claim(t, claim("kept", "net", 32, retain))
	b.release(t, "kept")
	a, err := b.GetAllocation(b.ctx, project, kept.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	space, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, usecase.Request{})
	require.NoError(t, err)
	umbrella, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, usecase.Request{})
	require.NoError(t, err)
	for _, c := range []struct {
		name     string
		revision ipam.ID
		run      func(usecase.Request) error
	}{
		{"PatchProject", umbrella.Value.Revision, func(r usecase.Request) error {
			_, err := b.PatchProject(b.ctx, "umbrella", r, func(p ipam.Project) (ipam.Project, error) { return p, nil })
			return err
		}},
		{"PatchSpace", space.Value.Revision, func(r usecase.Request) error {
			_, err := b.PatchSpace(b.ctx, project, "blue", r, func(s ipam.Space) (ipam.Space, error) { return s, nil })
			return err
		}},
		{"PatchClass", std.Revision, func(r usecase.Request) error {
			_, err := b.patchClass("std", false, r, func(*ipam.ClassSpec) {})
			return err
		}},
		{"DeleteClass", std.Revision, func(r usecase.Request) error { return b.DeleteClass(b.ctx, project, "std", r) }},
		{"PatchPool", net.Revision, func(r usecase.Request) error {
			_, err := b.patch("net", r, func(*ipam.Pool) {})
			return err
		}},
		{"PatchClaim", made.Revision, func(r usecase.Request) error {
			_, err := b.patchClaim("c", r, func(*ipam.Claim) {})
			return err
		}},
		{"DeleteClaim", made.Revision, func(r usecase.Request) error { return b.DeleteClaim(b.ctx, project, "c", r) }},
		{"DeleteAllocation", a.Revision, func(r usecase.Request) error {
			return b.DeleteAllocation(b.ctx, project, a.ID.String(), r)
		}},
		{"DeletePool", net.Revision, func(r usecase.Request) error { return b.DeletePool(b.ctx, project, "net", r) }},
		{"DeleteSpace", space.Value.Revision, func(r usecase.Request) error { return b.DeleteSpace(b.ctx, project, "blue", r) }},
		{"DeleteProject", umbrella.Value.Revision, func(r usecase.Request) error { return b.DeleteProject(b.ctx, "umbrella", r) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.dump(t)
			e := refused(t, c.run(ifMatch(ipam.NewID())), ipam.CodePreconditionFailed)
			require.Equal(t, c.revision.String(), e.Figures.CurrentRevision, "the refusal says what is current")
			require.Equal(t, before, b.dump(t))
			some := ifMatch(c.revision)
			some.DryRun = true
			require.NoError(t, c.run(some))
			require.NoError(t, c.run(ifMatch(ipam.NewID(), c.revision)), "one of several is enough")
		})
	}
	refused(t, b.DeleteClaim(b.ctx, project, "c", ifAny), ipam.CodeNotFound)
	b.pool(t, root("net", "10.0.0.0/24"))
	require.NoError(t, b.DeletePool(b.ctx, project, "net", ifAny))
}

func TestStalePatchOfAPoolIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.pool(t, root("net", "10.0.0.0/24"))
	now, err := b.patch("net", ifMatch(was.Revision), labelled("a", "1"))
	require.NoError(t, err)
	_, err = b.patch("net", ifMatch(was.Revision), labelled("a", "2"))
	require.Equal(t, now.Revision.String(), refused(t, err, ipam.CodePreconditionFailed).Figures.CurrentRevision)
	read, err := b.GetPool(b.ctx, project, "net", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, now, read)
}

func TestCarvingKeepsThePoolRevision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 32))
	_, err := b.patch("net", ifMatch(was.Revision), labelled("a", "1"))
	require.NoError(t, err)
}
