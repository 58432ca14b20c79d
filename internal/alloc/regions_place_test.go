package alloc_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// placing is a store that lets a test decide how the places of one project are noted.
type placing struct {
	storage.Store
	of    ipam.ID
	place func(note func() error) error
}

func (p *placing) Place(ctx context.Context, project ipam.ID, region string) error {
	note := func() error { return p.Store.Place(ctx, project, region) }
	if project == p.of {
		return p.place(note)
	}
	return note()
}

// That a project has its first claim in a region is noted where all regions read it, which may take a second. Others do not wait for it.
func TestNobodyWaitsForTheFirstClaimOfAnotherProject(t *testing.T) {
	t.Parallel()
	for way, claims := range map[string]func(context.Context, *alloc.Service) error{
		"a claim": func(ctx context.Context, s *alloc.Service) error {
			_, err := s.CreateClaim(ctx, other, claim("first", "net", 28), usecase.Request{})
			return err
		},
		"a batch": func(ctx context.Context, s *alloc.Service) error {
			_, err := s.CreateClaimBatch(ctx, other, []ipam.Claim{claim("first", "net", 28)}, usecase.Request{})
			return err
		},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := setupRegions(t)
			ctx := w.neighbour(t)
			w.pool(t, root("net", "10.0.0.0/16", func(p *ipam.Pool) { p.Spec.Visibility = ipam.VisibilityShared }))
			_, err := w.PutPoolGrant(w.ctx, project, "net", other, usecase.Request{})
			require.NoError(t, err)
			stranger, err := w.GetProject(ctx, other)
			require.NoError(t, err)
			store, seen := w.store(t)
			begun, goOn, made := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			s := w.serve(&placing{store, stranger.UID, func(note func() error) error {
				close(begun)
				<-goOn
				return note()
			}})
			go func() { made <- claims(ctx, s) }()
			select {
			case <-begun:
			case err := <-made:
				require.FailNow(t, "nothing was noted before the pool's turn", "%v", err)
			}
			for i := range 3 {
				_, err := s.CreateClaim(w.ctx, project, claim(fmt.Sprint("meanwhile-", i), "net", 28), usecase.Request{})
				require.NoError(t, err)
			}
			close(goOn)
			require.NoError(t, <-made)
			require.Zero(t, seen.count("claim_group", "again")+seen.count("claim_batch", "again"), "no transaction found that it was missing")
		})
	}
}

// Should it be missing all the same, it is noted when the claim is written.
func TestAFirstClaimThatNothingWasNotedForIsMade(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	ctx := w.neighbour(t)
	stranger, err := w.GetProject(ctx, other)
	require.NoError(t, err)
	_, err = w.CreatePool(ctx, other, root("net", "10.0.0.0/16"), usecase.Request{})
	require.NoError(t, err)
	store, seen := w.store(t)
	s := w.serve(&placing{store, stranger.UID, func(func() error) error { return nil }})
	c := claim("first", "net", 28)
	c.Spec.PoolRef.Project = other
	_, err = s.CreateClaim(ctx, other, c, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, 1, seen.count("claim_group", "again"))
}
