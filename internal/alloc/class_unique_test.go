package alloc_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func unique(s *ipam.ClassSpec) { s.UniqueWithin = ipam.UniqueWithinClass }

// Pools in different spaces may overlap. But the claims of a unique class must not overlap, so the pools that back this class must not overlap
// either. A pool must not remove such a class from its list.
func TestPoolsBehindAUniqueClassDoNotOverlap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.neighbour(t)
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, usecase.Request{})
	require.NoError(t, err)
	b.class(t, project, class("sole", unique))
	b.class(t, project, class("any"))
	b.class(t, ipam.PlatformProject, class("theirs", sharedClass, unique))
	b.pool(t, root("net", "10.0.0.0/16", backing("sole")))
	b.pool(t, root("apart", "10.1.0.0/16", inSpace("blue"), backing("sole", "any")))
	b.pool(t, child("inner", "net", 20, backing("sole")))

	before := b.dump(t)
	for _, p := range []ipam.Pool{
		root("same", "10.0.0.0/16", inSpace("blue"), backing("any", "sole")),
		root("within", "10.0.128.0/20", inSpace("blue"), backing("any", "sole")),
		root("beside", "10.1.128.0/17", backing("any", "sole")),
	} {
		_, err := b.CreatePool(b.ctx, project, p, usecase.Request{})
		e := refused(t, err, ipam.CodeOverlap)
		require.Equal(t, "/spec/classNames/1", e.Fields[0].Pointer)
		require.Len(t, e.Figures.ConflictsWith, 1)
	}
	_, err = b.CreatePool(b.ctx, project, root("foreign", "10.9.0.0/16", backing("theirs")), usecase.Request{})
	refused(t, err, ipam.CodeInvalidArgument)
	require.Equal(t, before, b.dump(t))

	b.pool(t, root("late", "10.0.0.0/24", inSpace("blue"), backing("any")))
	_, err = b.patch("late", usecase.Request{}, backing("any", "sole"))
	require.Equal(t, []string{project + "/inner"}, refused(t, err, ipam.CodeOverlap).Figures.ConflictsWith)
	_, err = b.patch("net", usecase.Request{}, backing())
	require.Contains(t, refused(t, err, ipam.CodeImmutableField).Message, "class acme/sole")
	_, err = b.patch("apart", usecase.Request{}, backing("sole"))
	require.NoError(t, err, "another class it need not list any longer")
	require.NoError(t, b.DeletePool(b.ctx, project, "apart", usecase.Request{}))
	_, err = b.PatchClass(b.ctx, project, "sole", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.UniqueWithin = ipam.UniqueWithinSpace
		return c, nil
	})
	refused(t, err, ipam.CodeImmutableField)
}

// Pools in different spaces have overlapping CIDRs. They begin to list the same unique class at the same time, and one of them succeeds.
func TestConcurrentListingOfAUniqueClassAdmitsOneOverlappingPool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("sole", unique))
	const many = 8
	for i := range many {
		_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta(fmt.Sprint("s", i))}, usecase.Request{})
		require.NoError(t, err)
		b.pool(t, root(fmt.Sprint("p", i), "10.0.0.0/24", inSpace(fmt.Sprint("s", i))))
	}
	var g errgroup.Group
	var done atomic.Int64
	for i := range many {
		g.Go(func() error {
			_, err := b.patch(fmt.Sprint("p", i), usecase.Request{}, backing("sole"))
			if err == nil {
				done.Add(1)
			}
			if ipam.IsCode(err, ipam.CodeOverlap) {
				return nil
			}
			return err
		})
	}
	require.NoError(t, g.Wait())
	require.EqualValues(t, 1, done.Load())
}
