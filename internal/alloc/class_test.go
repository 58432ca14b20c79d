package alloc_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// patchClass changes the spec of one of the project's classes in place.
func (b *bundle) patchClass(name string, moveDefault bool, r usecase.Request, change classOption) (ipam.Class, error) {
	return b.PatchClass(b.ctx, project, name, moveDefault, r, func(c ipam.Class) (ipam.Class, error) {
		change(&c.Spec)
		return c, nil
	})
}

// within limits the prefix lengths of a class.
func within(lo, hi int) classOption {
	return func(s *ipam.ClassSpec) { s.MinPrefixLength, s.MaxPrefixLength = &lo, &hi }
}

// full returns a class with all fields set.
func full(name string, options ...classOption) ipam.Class {
	c := class(name, append([]classOption{within(22, 28), poolPer(20, "cluster"), func(s *ipam.ClassSpec) {
		s.Strategy, s.DefaultPrefixLength, s.ReclaimPolicy = ipam.Sparse, new(24), ipam.ReclaimRetain
		s.ReuseAfter, s.EmptyPoolTTL, s.PoolSelection = new(72*time.Hour), new(time.Hour), ipam.PoolsLeastUtilized
		s.Parameters, s.Description = labels("tier", "gold"), "the\nclass"
	}}, options...)...)
	c.Labels, c.Annotations = labels("a", "b"), labels("note", "two\nlines")
	return c
}

func TestCreatedClassIsReadBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]ipam.Class{"Plain": class("plain"), "Full": full("full"), "IPv6": class("six", forFamily(ipam.IPv6), within(48, 128))} {
		t.Run(name, func(t *testing.T) {
			made := b.class(t, project, c)
			require.Equal(t, c.Spec, made.Spec)
			require.Equal(t, []any{"tester", int64(1), b.clock.read(), project}, []any{made.CreatedBy, made.Generation, made.CreatedAt, made.Project})
			require.Equal(t, ipam.ClassStatus{Total: "0", Available: "0"}, made.Status)
			read, err := b.GetClass(b.ctx, project, c.Name, usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, made, read, "what was answered is what is stored")
		})
	}
	_, err := b.GetClass(b.ctx, project, "none", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
}

func TestInvalidClassIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("std"))
	before := b.dump(t)
	for _, c := range []struct {
		name    string
		class   ipam.Class
		code    ipam.Code
		pointer string
	}{
		{"ExistingName", class("std", forFamily(ipam.IPv6)), ipam.CodeAlreadyExists, "/metadata/name"},
		{"InvalidName", class("Std"), ipam.CodeInvalidArgument, "/metadata/name"},
		{"InvalidSpec", class("x", within(24, 22)), ipam.CodeInvalidArgument, "/spec/allowedPrefixLengths/min"},
		{"SharedClassOfAProject", class("x", sharedClass), ipam.CodeInvalidArgument, "/spec/visibility"},
		{"OfAProjectForThePlatform", class("x", func(s *ipam.ClassSpec) { s.Visibility = ipam.VisibilityPlatform }), ipam.CodeInvalidArgument, "/spec/visibility"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.CreateClass(b.ctx, project, c.class, true, usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, c.code).Fields[0].Pointer)
			require.Equal(t, before, b.dump(t))
		})
	}
	_, err := b.CreateClass(b.ctx, "nobody", class("x"), false, usecase.Request{})
	refused(t, err, ipam.CodeNotFound)
	for _, v := range []ipam.Visibility{ipam.VisibilityPlatform, ipam.VisibilityConsumer, ipam.VisibilityShared} {
		b.class(t, ipam.PlatformProject, class(string(v), func(s *ipam.ClassSpec) { s.Visibility = v }))
	}
}

func TestTakenGeneratedClassNameIsRegenerated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("std-1", defaultClass))
	c := class("std-1")
	c.GeneratedFrom = "std-"
	made := b.class(t, project, c)
	require.NotEqual(t, "std-1", made.Name)
	c.Spec.IsDefault = true
	_, err := b.CreateClass(b.ctx, project, c, false, usecase.Request{})
	refused(t, err, ipam.CodeAlreadyExists)
	c.Name = "std-2"
	_, err = b.CreateClass(b.ctx, project, c, false, usecase.Request{})
	require.Equal(t, "/spec/isDefault", refused(t, err, ipam.CodeAlreadyExists).Fields[0].Pointer, "another name would not help")
}

func TestPatchOfAClassChangesOnlyMutableFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.class(t, project, full("std"))
	b.clock.move(time.Minute)
	now, err := b.PatchClass(b.ctx, project, "std", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Labels, c.Annotations = labels("a", "c"), nil
		within(24, 30)(&c.Spec)
		c.Spec.Strategy, c.Spec.DefaultPrefixLength, c.Spec.ReclaimPolicy = "", nil, ipam.ReclaimDelete
		c.Spec.ReuseAfter, c.Spec.EmptyPoolTTL, c.Spec.PoolSelection = nil, new(time.Minute), ipam.PoolsByName
		c.Spec.Parameters, c.Spec.Description, c.Spec.IsDefault = nil, "", true
		return c, nil
	})
	require.NoError(t, err)
	read, err := b.GetClass(b.ctx, project, "std", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, now, read)
	require.NotEqual(t, was.Revision, now.Revision)
	require.Equal(t, []any{was.UID, was.Generation + 1, was.CreatedAt, b.clock.read()}, []any{now.UID, now.Generation, now.CreatedAt, now.UpdatedAt})
	require.True(t, now.Spec.IsDefault)
	require.Nil(t, now.Spec.ReuseAfter)
	t.Run("LabelsKeepTheGeneration", func(t *testing.T) {
		again, err := b.PatchClass(b.ctx, project, "std", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) { c.Labels = nil; return c, nil })
		require.NoError(t, err)
		require.Equal(t, now.Generation, again.Generation)
		require.NotEqual(t, now.Revision, again.Revision)
	})
	t.Run("UnchangedPatchWritesNothing", func(t *testing.T) {
		read, err := b.GetClass(b.ctx, project, "std", usecase.Reading{})
		require.NoError(t, err)
		before := b.dump(t)
		for _, move := range []bool{false, true} {
			same, err := b.patchClass("std", move, usecase.Request{}, defaultClass)
			require.NoError(t, err)
			require.Equal(t, read, same)
		}
		require.Equal(t, before, b.dump(t))
	})
	for name, c := range map[string]struct {
		change  classOption
		code    ipam.Code
		pointer string
	}{
		"Family":      {forFamily(ipam.IPv6), ipam.CodeImmutableField, "/spec/ipFamily"},
		"Provisioner": {func(s *ipam.ClassSpec) { s.Provisioner = "other" }, ipam.CodeImmutableField, "/spec/provisioner"},
		"Roles":       {poolPer(20), ipam.CodeImmutableField, "/spec/poolPer"},
		"PoolLength":  {poolPer(21, "cluster"), ipam.CodeImmutableField, "/spec/poolPrefixLength"},
		"Lengths":     {within(19, 30), ipam.CodeInvalidArgument, "/spec/allowedPrefixLengths/min"},
		"Visibility":  {sharedClass, ipam.CodeInvalidArgument, "/spec/visibility"},
	} {
		t.Run("Refuses"+name, func(t *testing.T) {
			before := b.dump(t)
			_, err := b.patchClass("std", false, usecase.Request{}, c.change)
			require.Equal(t, c.pointer, refused(t, err, c.code).Fields[0].Pointer)
			require.Equal(t, before, b.dump(t))
		})
	}
	_, err = b.patchClass("none", false, usecase.Request{}, func(*ipam.ClassSpec) {})
	refused(t, err, ipam.CodeNotFound)
}

func TestStalePatchOfAClassIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.class(t, project, class("std"))
	now, err := b.patchClass("std", false, ifMatch(was.Revision), func(s *ipam.ClassSpec) { s.Description = "1" })
	require.NoError(t, err)
	_, err = b.patchClass("std", false, ifMatch(was.Revision), func(s *ipam.ClassSpec) { s.Description = "2" })
	require.Equal(t, now.Revision.String(), refused(t, err, ipam.CodePreconditionFailed).Figures.CurrentRevision)
	refused(t, b.DeleteClass(b.ctx, project, "std", ifMatch(was.Revision)), ipam.CodePreconditionFailed)
	require.NoError(t, b.DeleteClass(b.ctx, project, "std", ifMatch(now.Revision)))
}

// A project sees its own classes and the shared classes of the platform. For the project, all other classes look as if they did not exist.
func TestForeignClassIsReportedAsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.neighbour(t)
	for _, v := range []ipam.Visibility{ipam.VisibilityPlatform, ipam.VisibilityConsumer, ipam.VisibilityShared} {
		b.class(t, ipam.PlatformProject, class("p-"+string(v), func(s *ipam.ClassSpec) { s.Visibility = v }))
	}
	b.class(t, project, class("own"))
	b.class(t, other, class("theirs"))
	everything := []string{"none", "own", "p-consumer", "p-platform", "p-shared", "theirs"}
	reader := b.acting("corp:viewer", tenancy.Viewer, project)
	writer := b.acting("corp:provider", tenancy.Provider, project)
	before := b.dump(t)
	for _, c := range []struct {
		name       string
		in         string
		seen, mine []string
	}{
		{"Project", project, []string{"own", "p-shared"}, []string{"own"}},
		{"Platform", ipam.PlatformProject, []string{"p-consumer", "p-platform", "p-shared"}, []string{"p-consumer", "p-platform", "p-shared"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			reader, writer := reader, writer
			if c.in == ipam.PlatformProject {
				reader, writer = b.ctx, b.ctx
			}
			for _, name := range everything {
				sentence := fmt.Sprintf("Class %q was not found in project %q.", name, c.in)
				_, err := b.GetClass(reader, c.in, name, usecase.Reading{})
				if slices.Contains(c.seen, name) {
					require.NoError(t, err)
				} else {
					require.Equal(t, sentence, refused(t, err, ipam.CodeNotFound).Message)
				}
				_, err = b.PatchClass(writer, c.in, name, false, dry, func(c ipam.Class) (ipam.Class, error) { c.Spec.Description = "x"; return c, nil })
				gone := b.DeleteClass(writer, c.in, name, dry)
				if slices.Contains(c.mine, name) {
					require.NoError(t, err)
					require.NoError(t, gone)
				} else {
					require.Equal(t, sentence, refused(t, err, ipam.CodeNotFound).Message)
					require.Equal(t, sentence, refused(t, gone, ipam.CodeNotFound).Message)
				}
			}
			require.Equal(t, c.seen, b.classNames(t, c.in, paging.Filter{}, 100))
		})
	}
	require.Equal(t, before, b.dump(t))
	_, err := b.CreateClass(b.acting("corp:consumer", tenancy.Consumer, project), project, class("x"), false, usecase.Request{})
	refused(t, err, ipam.CodePermissionDenied)
}

// classNames returns the names of the classes that a project may use. It reads pages of the given size.
func (b *bundle) classNames(t testing.TB, in string, f paging.Filter, limit int) []string {
	t.Helper()
	var out []string
	for _, c := range all(t, limit, func(n int, cursor string) (paging.Page[ipam.Class], error) {
		return b.ListClasses(b.ctx, in, f, n, cursor, usecase.Reading{})
	}) {
		out = append(out, c.Name)
	}
	return out
}

func TestClassesAreListedByName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 5 {
		c := class(fmt.Sprintf("c%d", i), func(s *ipam.ClassSpec) {
			if i%2 == 1 {
				s.Family = ipam.IPv6
			}
		})
		c.Labels = labels("n", fmt.Sprint(i/2))
		b.class(t, project, c)
	}
	b.class(t, ipam.PlatformProject, class("c1", sharedClass, forFamily(ipam.IPv6)))
	b.class(t, ipam.PlatformProject, class("c-1", sharedClass))
	for _, limit := range []int{1, 2, 3, 100} {
		require.Equal(t, []string{"c-1", "c0", "c1", "c1", "c2", "c3", "c4"}, b.classNames(t, project, paging.Filter{}, limit))
		require.Equal(t, []string{"c1", "c1", "c3"}, b.classNames(t, project, paging.Filter{Family: ipam.IPv6}, limit))
		require.Equal(t, []string{"c2", "c3"}, b.classNames(t, project, paging.Filter{Labels: &ipam.Selector{MatchLabels: labels("n", "1")}}, limit))
	}
	page, err := b.ListClasses(b.ctx, project, paging.Filter{Family: ipam.IPv6}, 2, "", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, []string{project, ipam.PlatformProject}, []string{page.Items[0].Project, page.Items[1].Project}, "the project's own comes first")
	own, err := b.GetClass(b.ctx, project, "c1", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, project, own.Project, "and is what the name means")
	for _, cursor := range []string{"?", alloc.SealCursor("pools", "c1"), alloc.SealCursor("classes", 7)} {
		_, err := b.ListClasses(b.ctx, project, paging.Filter{}, 1, cursor, usecase.Reading{})
		refused(t, err, ipam.CodeInvalidArgument)
	}
}

func TestClassesOfAProjectAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, ipam.PlatformProject, class("shared", sharedClass))
	for i := range storage.MaxClasses {
		b.class(t, project, class(fmt.Sprintf("c%03d", i)))
	}
	_, err := b.CreateClass(b.ctx, project, class("more"), false, usecase.Request{})
	refusedAsFull(t, err, "256")
	require.NoError(t, b.DeleteClass(b.ctx, project, "c007", usecase.Request{}))
	b.class(t, project, class("more"))
}

func TestClassesAreDeletedWithTheirProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.neighbour(t)
	b.class(t, other, class("std", defaultClass))
	require.NoError(t, b.DeleteProject(b.ctx, other, usecase.Request{}))
	b.neighbour(t)
	_, err := b.GetClass(b.ctx, other, "std", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	b.class(t, other, class("std", defaultClass))
}

func TestRetriedClassCreationReturnsTheFirstResult(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := key("k", "class std")
	first, err := b.CreateClass(b.ctx, project, class("std", defaultClass), false, r)
	require.NoError(t, err)
	_, err = b.patchClass("std", false, usecase.Request{}, func(s *ipam.ClassSpec) { s.Description = "changed since" })
	require.NoError(t, err)
	again, err := b.CreateClass(b.ctx, project, class("std", defaultClass), false, r)
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, first.Value, again.Value)
	_, err = b.CreateClass(b.ctx, project, class("other"), false, key("k", "class other"))
	refused(t, err, ipam.CodeIdempotencyMismatch)
}
