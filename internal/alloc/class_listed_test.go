package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestPoolListsClassesByName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	own := b.class(t, project, class("std"))
	b.class(t, ipam.PlatformProject, class("std", sharedClass))
	theirs := b.class(t, ipam.PlatformProject, class("big", sharedClass))
	six := b.class(t, project, class("six", forFamily(ipam.IPv6)))
	reuse := func(p *ipam.Pool) { p.Spec.ReuseAfter = new(72 * time.Hour) }

	made := b.pool(t, root("net", "10.0.0.0/16", backing("big", "std"), reuse))
	require.Equal(t, []ipam.ClassRef{theirs.AsRef(), own.AsRef()}, made.Classes, "the project's own before the platform's, in the caller's order")
	require.Equal(t, []string{"big", "std"}, made.Spec.ClassNames)
	read, err := b.GetPool(b.ctx, project, "net", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, made, read)
	sub := b.pool(t, child("sub", "net", 20, backing("std")))
	require.Equal(t, []ipam.ClassRef{own.AsRef()}, sub.Classes)
	net6 := b.pool(t, root("net6", "2001:db8::/32", backing("six")))
	require.Equal(t, []ipam.ClassRef{six.AsRef()}, net6.Classes)
	for _, p := range []ipam.Pool{sub, net6} {
		read, err := b.GetPool(b.ctx, project, p.Name, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, p, read)
	}

	now, err := b.patch("net", usecase.Request{}, func(p *ipam.Pool) { p.Spec.ClassNames, p.Spec.ReuseAfter = []string{"std"}, nil })
	require.NoError(t, err)
	require.Equal(t, []ipam.ClassRef{own.AsRef()}, now.Classes)
	require.Nil(t, now.Spec.ReuseAfter)
	require.Equal(t, made.Generation+1, now.Generation)
	read, err = b.GetPool(b.ctx, project, "net", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, now, read)
	require.NoError(t, b.DeleteClass(b.ctx, ipam.PlatformProject, "big", usecase.Request{}), "it is listed no more")

	before := b.dump(t)
	same, err := b.patch("net", usecase.Request{}, backing("std"))
	require.NoError(t, err)
	require.Equal(t, now, same)
	require.Equal(t, before, b.dump(t))
}

func TestPoolCannotListUnsuitableClasses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.neighbour(t)
	b.class(t, project, class("std"))
	b.class(t, project, class("six", forFamily(ipam.IPv6)))
	b.class(t, other, class("theirs"))
	b.class(t, ipam.PlatformProject, class("hidden"))
	b.class(t, ipam.PlatformProject, class("shared", sharedClass))
	b.pool(t, root("net", "10.0.0.0/16", backing("std")))
	for _, c := range []struct {
		name    string
		names   []string
		code    ipam.Code
		pointer string
		says    string
	}{
		{"ItsOwnAndShared", []string{"std", "shared"}, "", "", ""},
		{"Unknown", []string{"std", "none"}, ipam.CodeNotFound, "/spec/classNames/1", `Class "none" was not found in project "acme".`},
		{"OfAnotherProject", []string{"theirs"}, ipam.CodeNotFound, "/spec/classNames/0", `Class "theirs" was not found in project "acme".`},
		{"OfThePlatformNotShared", []string{"std", "shared", "hidden"}, ipam.CodeNotFound, "/spec/classNames/2", `Class "hidden" was not found in project "acme".`},
		{"OfTheOtherFamily", []string{"std", "six"}, ipam.CodeFamilyMismatch, "/spec/classNames/1", "Class acme/six is IPv6; the pool is IPv4."},
		{"Twice", []string{"std", "std"}, ipam.CodeInvalidArgument, "/spec/classNames/1", "repeats an earlier entry"},
		{"NoName", []string{"std", "Shared"}, ipam.CodeInvalidArgument, "/spec/classNames/1", "must be a DNS label"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.dump(t)
			_, created := b.CreatePool(b.ctx, project, root("more", "10.1.0.0/16", backing(c.names...)), dry)
			_, carved := b.CreatePool(b.ctx, project, child("sub", "net", 20, backing(c.names...)), dry)
			_, patched := b.patch("net", dry, backing(c.names...))
			for _, err := range []error{created, carved, patched} {
				if c.code == "" {
					require.NoError(t, err)
					continue
				}
				e := refused(t, err, c.code)
				require.Equal(t, c.pointer, e.Fields[0].Pointer)
				require.Contains(t, e.Message, c.says)
			}
			require.Equal(t, before, b.dump(t))
		})
	}
	b.poolIn(t, ipam.PlatformProject, root("own", "10.2.0.0/16", backing("hidden", "shared")))
}

// A pool still backs a class that it lists, even if the class is no longer shared. So the name in the pool's list keeps its meaning.
func TestPoolKeepsListedClassesAfterTheyAreUnshared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	theirs := b.class(t, ipam.PlatformProject, class("std", sharedClass))
	b.class(t, project, class("own"))
	b.pool(t, root("net", "10.0.0.0/16", backing("std")))
	_, err := b.PatchClass(b.ctx, ipam.PlatformProject, "std", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.Visibility = ipam.VisibilityConsumer
		return c, nil
	})
	require.NoError(t, err)
	_, err = b.GetClass(b.ctx, project, "std", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	now, err := b.patch("net", usecase.Request{}, backing("own", "std"))
	require.NoError(t, err)
	require.Equal(t, theirs.AsRef(), now.Classes[1])
	now, err = b.patch("net", usecase.Request{}, labelled("a", "b"))
	require.NoError(t, err)
	require.Len(t, now.Classes, 2)

	t.Run("OwnClassOfItsNameIsRefused", func(t *testing.T) {
		before := b.dump(t)
		_, err := b.CreateClass(b.ctx, project, class("std"), false, usecase.Request{})
		e := refused(t, err, ipam.CodeInUse)
		require.EqualValues(t, 1, *e.Figures.Pools)
		require.Equal(t, []string{"platform/std"}, e.Figures.ConflictsWith)
		require.Contains(t, e.Message, "hide")
		require.Equal(t, before, b.dump(t))
	})
	_, err = b.patch("net", usecase.Request{}, backing("own"))
	require.NoError(t, err)
	_, err = b.patch("net", usecase.Request{}, backing("std"))
	refused(t, err, ipam.CodeNotFound)
	b.class(t, project, class("std"))
}

func TestClassNameIsBlockedOnlyByPoolsOfItsProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.neighbour(t)
	b.class(t, ipam.PlatformProject, class("std", sharedClass))
	b.poolIn(t, ipam.PlatformProject, root("net", "10.0.0.0/16", backing("std")))
	b.poolIn(t, other, root("net", "10.0.0.0/16", backing("std")))
	b.class(t, project, class("std"))
	_, err := b.CreateClass(b.ctx, other, class("std"), false, usecase.Request{})
	refused(t, err, ipam.CodeInUse)
}

func TestPoolsBehindAClassAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, ipam.PlatformProject, class("std", sharedClass))
	b.pool(t, root("net", "10.0.0.0/16"))
	for i := range storage.MaxClassPools {
		b.pool(t, child(fmt.Sprintf("p%03d", i), "net", 28, backing("std")))
	}
	_, created := b.CreatePool(b.ctx, project, child("more", "net", 28, backing("std")), usecase.Request{})
	_, patched := b.patch("net", usecase.Request{}, backing("std"))
	for _, err := range []error{created, patched} {
		require.Equal(t, "/spec/classNames/0", refusedAsFull(t, err, "256").Fields[0].Pointer)
	}
	_, err := b.patch("p007", usecase.Request{}, labelled("a", "b"))
	require.NoError(t, err, "what lists it may go on")
	b.poolIn(t, ipam.PlatformProject, root("net", "10.0.0.0/16", backing("std")))
	require.NoError(t, b.DeletePool(b.ctx, project, "p007", usecase.Request{}))
	b.pool(t, child("more", "net", 28, backing("std")))
}

func TestClassInUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, ipam.PlatformProject, class("std", sharedClass))
	b.poolIn(t, ipam.PlatformProject, root("net", "10.0.0.0/16", backing("std")))
	b.pool(t, root("net", "10.0.0.0/16", backing("std")))
	b.claim(t, byClass("c", "std", length(24)))
	remove := func() error { return b.DeleteClass(b.ctx, ipam.PlatformProject, "std", usecase.Request{}) }
	kept := func(pools, claims int64) {
		t.Helper()
		before := b.dump(t)
		e := refused(t, remove(), ipam.CodeInUse)
		require.Equal(t, []int64{pools, claims}, []int64{*e.Figures.Pools, *e.Figures.Claims})
		require.NotContains(t, e.Message, project, "counts alone: they are other projects'")
		require.Equal(t, before, b.dump(t))
	}
	kept(2, 1)
	_, err := b.patch("net", usecase.Request{}, backing())
	require.NoError(t, err)
	kept(1, 1)
	_, err = b.PatchPool(b.ctx, ipam.PlatformProject, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) { p.Spec.ClassNames = nil; return p, nil })
	require.NoError(t, err)
	kept(0, 1)
	b.release(t, "c")
	require.NoError(t, remove())
	refused(t, remove(), ipam.CodeNotFound)
}

// A class is deleted while pools begin to list it. Either the deletion succeeds and the pools are refused, or the class stays.
func TestConcurrentClassDeleteAndListingExcludeEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	servers := b.servers(t, 3)
	b.pool(t, root("net", "10.0.0.0/16"))
	for round := range 8 {
		name := fmt.Sprintf("c%d", round)
		b.class(t, project, class(name))
		b.pool(t, child("patched-"+name, "net", 26))
		results := newLedger()
		var listed, gone error
		var wg sync.WaitGroup
		wg.Go(func() {
			_, listed = servers[0].CreatePool(b.ctx, project, child("made-"+name, "net", 26, backing(name)), usecase.Request{})
			results.expect(listed, ipam.CodeNotFound, ipam.CodeContention)
		})
		wg.Go(func() {
			_, err := servers[1].PatchPool(b.ctx, project, "patched-"+name, usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
				p.Spec.ClassNames = []string{name}
				return p, nil
			})
			results.expect(err, ipam.CodeNotFound, ipam.CodeContention)
		})
		wg.Go(func() {
			gone = servers[2].DeleteClass(b.ctx, project, name, usecase.Request{})
			results.expect(gone, ipam.CodeInUse)
		})
		wg.Wait()
		require.Empty(t, results.odd)
		if gone == nil {
			require.Error(t, listed, "by one of the codes above")
		}
		_, err := b.GetClass(b.ctx, project, name, usecase.Reading{})
		require.Equal(t, gone == nil, ipam.IsCode(err, ipam.CodeNotFound))
	}
}

// A project creates a class while a pool begins to list the platform's class of the same name. Afterwards, all pools resolve the name to the same
// class.
func TestConcurrentClassCreationAndListingResolveToOneClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	servers := b.servers(t, 2)
	b.pool(t, root("net", "10.0.0.0/16"))
	for round := range 8 {
		name := fmt.Sprintf("c%d", round)
		b.class(t, ipam.PlatformProject, class(name, sharedClass))
		results := newLedger()
		var made error
		var pool usecase.Result[ipam.Pool]
		var wg sync.WaitGroup
		wg.Go(func() {
			var err error
			pool, err = servers[0].CreatePool(b.ctx, project, child("p-"+name, "net", 26, backing(name)), usecase.Request{})
			results.expect(err, ipam.CodeContention)
		})
		wg.Go(func() {
			_, made = servers[1].CreateClass(b.ctx, project, class(name), false, usecase.Request{})
			results.expect(made, ipam.CodeInUse)
		})
		wg.Wait()
		require.Empty(t, results.odd)
		if made == nil && len(pool.Value.Classes) > 0 {
			require.Equal(t, project, pool.Value.Classes[0].Ref.Project)
		}
	}
}
