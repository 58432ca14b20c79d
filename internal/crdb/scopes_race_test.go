package crdb_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// together runs functions at the same time, and waits for all of them.
func together(all ...func()) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for _, f := range all {
		wg.Go(func() {
			<-start
			f()
		})
	}
	close(start)
	wg.Wait()
}

// Several servers get the first claims of a scope at the same time. One of them creates the pool of the scope, and the others use it.
func TestConcurrentFirstClaimsOfAScopeCarveOnePool(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	houses := []*house{newHouse(t, dsn), newHouse(t, dsn)}
	ctx := admin(t)
	withClass(perZone)(t, houses[0], project)
	for round := range 5 {
		var all []func()
		const many = 4
		errs := make([]error, 2*many)
		for i := range errs {
			all = append(all, func() {
				c := byClass(fmt.Sprintf("claim-%d-%d", round, i), "class")
				c.Spec.PrefixLength, c.Spec.Scope = new(29), map[string]string{"zone": fmt.Sprint("z", round)}
				_, errs[i] = houses[i%2].svc.CreateClaim(ctx, project, c, usecase.Request{})
			})
		}
		together(all...)
		for _, err := range errs {
			if round < 4 { // a /26 pool holds eight /29 blocks
				require.NoError(t, err)
			} else {
				require.True(t, ipam.IsCode(err, ipam.CodePoolExhausted), "%v", err)
			}
		}
	}
	class, err := houses[0].store.ClassGet(ctx, platformKey(t, houses[0]), "class")
	require.NoError(t, err)
	n, err := houses[0].store.ScopedPoolCount(ctx, class.UID, ipam.ID{})
	require.NoError(t, err)
	require.Equal(t, int64(4), n, "the fifth scope finds no room in a /24: four of a /26 fill it")
	clean(t, dsn)
}

// A class is deleted. At the same time, a pool adds the class to its list, and a claim uses it. The later transaction gets a refusal.
func TestConcurrentClassDeletionAndUseExcludeEachOther(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	h, other := newHouse(t, dsn), newHouse(t, dsn)
	ctx := admin(t)
	h.createPool(t, rootPool("pool", "10.0.0.0/16"))
	list := func(names ...string) error {
		_, err := h.svc.PatchPool(ctx, project, "pool", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
			p.Spec.ClassNames = names
			return p, nil
		})
		return err
	}
	for round := range 10 {
		name := fmt.Sprint("class-", round)
		_, err := h.svc.CreateClass(ctx, project, classOf(name), false, usecase.Request{})
		require.NoError(t, err)
		var listed, claimed, deleted error
		listed = list()
		require.NoError(t, listed)
		together(
			func() { listed = list(name) },
			func() { deleted = other.svc.DeleteClass(ctx, project, name, usecase.Request{}) },
			func() { _, claimed = other.svc.CreateClaim(ctx, project, byClass("by-"+name, name), usecase.Request{}) },
		)
		if deleted == nil {
			require.True(t, ipam.IsCode(listed, ipam.CodeNotFound), "%v", listed)
			require.Error(t, claimed)
		} else {
			require.True(t, ipam.IsCode(deleted, ipam.CodeInUse), "%v", deleted)
			require.NoError(t, listed)
		}
		clean(t, dsn)
	}
}

func platformKey(t *testing.T, h *house) storage.ProjectKey {
	t.Helper()
	p, err := h.store.ProjectGet(context.WithoutCancel(t.Context()), project)
	require.NoError(t, err)
	return storage.Key(p)
}
