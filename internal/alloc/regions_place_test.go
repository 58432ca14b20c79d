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

// placing is a store that stops before it records that a project has claims in a region. It continues when the test lets it.
type placing struct {
	storage.Store
	of          ipam.ID
	begun, goOn chan struct{}
}

func (p *placing) RecordRegion(ctx context.Context, project ipam.ID, region string) error {
	if project == p.of {
		p.begun <- struct{}{}
		<-p.goOn
	}
	return p.Store.RecordRegion(ctx, project, region)
}

// The first claim of a project in a region writes a global row, which may take a second. Claims of other projects on the pool must not wait for this
// write.
func TestFirstClaimOfAProjectInARegionDelaysNoOther(t *testing.T) {
	t.Parallel()
	for way, claims := range map[string]func(context.Context, *alloc.Service) error{
		"a claim": func(ctx context.Context, s *alloc.Service) error {
			_, err := s.CreateClaim(ctx, other, claim("first", "net", 28), usecase.Request{})
			return err
		},
		"a claim with a consumer": func(ctx context.Context, s *alloc.Service) error {
			_, err := s.CreateClaim(ctx, other, claim("first", "net", 28, unused(4, user("u"))), usecase.Request{})
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
			store, _ := w.store(t)
			p := &placing{store, stranger.UID, make(chan struct{}), make(chan struct{})}
			s := w.serve(p)
			made := make(chan error, 1)
			go func() { made <- claims(ctx, s) }()
			select {
			case <-p.begun:
			case err := <-made:
				require.FailNow(t, "it was noted in the pool's turn, if at all", "%v", err)
			}
			for i := range 3 {
				_, err := s.CreateClaim(w.ctx, project, claim(fmt.Sprint("meanwhile-", i), "net", 28), usecase.Request{})
				require.NoError(t, err)
			}
			close(p.goOn)
			require.NoError(t, <-made)
		})
	}
}

// A successful claim records its region for the project, because later look-ups of names must include this region. A refused claim must not record
// it.
func TestRefusedClaimDoesNotPlaceItsProjectInARegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	ctx := w.neighbour(t)
	w.pool(t, root("net", "10.0.0.0/28", func(p *ipam.Pool) { p.Spec.Visibility = ipam.VisibilityShared }))
	_, err := w.PutPoolGrant(w.ctx, project, "net", other, usecase.Request{})
	require.NoError(t, err)
	w.claim(t, claim("all", "net", 28))
	stranger, err := w.GetProject(ctx, other)
	require.NoError(t, err)
	store, _ := w.store(t)
	s := w.serve(store)
	_, err = s.CreateClaim(ctx, other, claim("none", "net", 30), usecase.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	_, err = s.CreateClaimBatch(ctx, other, []ipam.Claim{claim("none", "net", 30)}, usecase.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	regions, err := store.RegionsOf(ctx, stranger.UID)
	require.NoError(t, err)
	require.Empty(t, regions)
}
