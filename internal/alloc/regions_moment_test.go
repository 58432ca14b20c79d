package alloc_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// passing is a store that calls a function once, before its first list read in one region.
type passing struct {
	storage.Store
	meanwhile
}

type meanwhile struct {
	once   *sync.Once
	region string
	do     func()
}

func (m meanwhile) before(c storage.Container) {
	if c.Region == m.region {
		m.once.Do(m.do)
	}
}

func (b *passing) Behind(at *storage.Moment) storage.View { return b.between(b.Store.Behind(at)) }

func (b *passing) between(view storage.View) *viewBetween {
	return &viewBetween{readBetween{view, b.meanwhile}, view}
}

func (b *passing) Snapshot(ctx context.Context, op string, fn func(context.Context, storage.Reader) error) error {
	return b.between(b.Store).Snapshot(ctx, op, fn)
}

func (b *passing) ClaimListInPool(ctx context.Context, p storage.ProjectKey, c storage.Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Claim, error) {
	return b.between(b.Store).ClaimListInPool(ctx, p, c, within, after, n)
}

func (b *passing) AllocationListInPool(ctx context.Context, c storage.Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Allocation, error) {
	return b.between(b.Store).AllocationListInPool(ctx, c, within, after, n)
}

func (b *passing) FreeList(ctx context.Context, c storage.Container, maxBits int, after netip.Prefix, n int) ([]netip.Prefix, error) {
	return b.between(b.Store).FreeList(ctx, c, maxBits, after, n)
}

// readBetween wraps the reads of one snapshot, or the single reads of a store.
type readBetween struct {
	storage.Reader
	meanwhile
}

func (r *readBetween) ClaimListInPool(ctx context.Context, p storage.ProjectKey, c storage.Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Claim, error) {
	r.before(c)
	return r.Reader.ClaimListInPool(ctx, p, c, within, after, n)
}

func (r *readBetween) AllocationListInPool(ctx context.Context, c storage.Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Allocation, error) {
	r.before(c)
	return r.Reader.AllocationListInPool(ctx, c, within, after, n)
}

func (r *readBetween) FreeList(ctx context.Context, c storage.Container, maxBits int, after netip.Prefix, n int) ([]netip.Prefix, error) {
	r.before(c)
	return r.Reader.FreeList(ctx, c, maxBits, after, n)
}

// viewBetween wraps a view with readBetween.
type viewBetween struct {
	readBetween

	view storage.View
}

func (v *viewBetween) Snapshot(ctx context.Context, op string, fn func(context.Context, storage.Reader) error) error {
	return v.view.Snapshot(ctx, op, func(ctx context.Context, read storage.Reader) error {
		return fn(ctx, &readBetween{read, v.meanwhile})
	})
}

// A block moves to another region while a server lists its pool. The list must contain the block exactly once.
func TestListOfAMultiRegionPoolIsOneSnapshot(t *testing.T) {
	t.Parallel()
	lists := map[string]struct {
		held bool // whether a claim holds the block
		read func(context.Context, *testing.T, *alloc.Service, usecase.Reading) []netip.Prefix
	}{
		"Claims": {true, func(ctx context.Context, t *testing.T, s *alloc.Service, r usecase.Reading) (blocks []netip.Prefix) {
			t.Helper()
			page, err := s.ListClaims(ctx, project, paging.Filter{Pool: ipam.Ref{Project: project, Name: "net"}}, 10, "", r)
			require.NoError(t, err)
			for _, c := range page.Items {
				blocks = append(blocks, c.Block)
			}
			return blocks
		}},
		"Allocations": {true, func(ctx context.Context, t *testing.T, s *alloc.Service, r usecase.Reading) (blocks []netip.Prefix) {
			t.Helper()
			page, err := s.ListAllocations(ctx, project, paging.Filter{Pool: ipam.Ref{Project: project, Name: "net"}}, 10, "", r)
			require.NoError(t, err)
			for _, a := range page.Items {
				blocks = append(blocks, a.Block)
			}
			return blocks
		}},
		"Free": {false, func(ctx context.Context, t *testing.T, s *alloc.Service, r usecase.Reading) []netip.Prefix {
			t.Helper()
			page, err := s.GetPoolFree(ctx, project, "net", nil, 10, "", r)
			require.NoError(t, err)
			require.Equal(t, "1", page.Pool.Stock.Available(32).String())
			return page.Blocks
		}},
	}
	for name, list := range lists {
		for title, way := range map[string][2]string{"ThatWasRead": {eu, us}, "ThatIsToBeRead": {us, eu}} {
			t.Run(name+title, func(t *testing.T) {
				t.Parallel()
				w := setupRegions(t)
				w.served(t, "net", "10.0.0.0/32")
				to := func(r, name string) {
					_, err := w.by(r, claim(name, "net", 32))
					require.NoError(t, err)
					if !list.held {
						w.released(t, name)
					}
				}
				to(way[0], "first")
				var r usecase.Reading
				if way[0] == us {
					r.Behind = new(storage.Moment)
					w.served(t, "later", "10.1.0.0/32")
					require.Eventually(t, func() bool { // a stale read shows the state of some seconds ago
						_, err := w.GetPoolFree(w.ctx, project, "later", nil, 1, "", usecase.Reading{Behind: new(storage.Moment)})
						return err == nil
					}, time.Minute, 50*time.Millisecond)
				}
				moved := false
				s := w.over(t, region, func(store storage.Store) storage.Store {
					return &passing{store, meanwhile{new(sync.Once), us, func() { // the list reads this region last
						if moved = true; list.held {
							w.released(t, "first")
						}
						to(way[1], "second")
					}}}
				})
				require.Equal(t, []netip.Prefix{block("10.0.0.0/32")}, list.read(w.ctx, t, s, r))
				require.True(t, moved)
			})
		}
	}
}
