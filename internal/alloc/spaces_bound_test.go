package alloc_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The number of spaces in a project is limited. The default space counts too. The limit holds even if several servers create spaces at the same time.
func TestSpacesOfAProjectAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var servers []*alloc.Service
	for range 2 {
		store, _ := b.store(t)
		servers = append(servers, alloc.New(store, alloc.Options{Region: region, Clock: b.clock.read, MaxSpaces: 5}))
	}
	var made atomic.Int64
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			_, err := servers[i%2].CreateSpace(b.ctx, project, ipam.Space{Metadata: meta(fmt.Sprintf("s%d", i))}, usecase.Request{})
			if err == nil {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 4, made.Load())
	for _, dry := range []bool{true, false} {
		_, err := servers[0].CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("more")}, usecase.Request{DryRun: dry})
		refusedAsFull(t, err, "5")
	}
	page, err := b.ListSpaces(b.ctx, project, paging.Filter{}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	for _, s := range page.Items {
		if s.Name != ipam.DefaultSpace {
			require.NoError(t, servers[1].DeleteSpace(b.ctx, project, s.Name, usecase.Request{}))
			break
		}
	}
	_, err = servers[0].CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("more")}, usecase.Request{})
	require.NoError(t, err)
}
