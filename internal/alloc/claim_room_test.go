package alloc_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// looking is a store that counts searches for room in several pools. It ignores reads of a single pool, because their number depends on other
// transactions.
type looking struct {
	storage.Store
	looks atomic.Int64
}

func (l *looking) RoomIn(ctx context.Context, ask []storage.RoomQuery) (map[ipam.ID]bool, error) {
	if len(ask) > 1 {
		l.looks.Add(1)
	}
	return l.Store.RoomIn(ctx, ask)
}

func TestFurtherPoolsAreReadOnlyWhenTheFirstIsFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 28, 26)))
	for i, name := range []string{"a", "b", "c"} {
		b.poolIn(t, platform, root(name, fmt.Sprintf("10.0.%d.0/24", i), backing("net")))
	}
	store, _ := b.store(t)
	l := &looking{Store: store}
	s := b.serve(l)
	n := 0
	claim := func(pool string, looks int64) {
		t.Helper()
		n++
		before := l.looks.Load()
		r, err := s.CreateClaim(b.ctx, project, byClass(fmt.Sprintf("c%d", n), "net"), usecase.Request{})
		require.NoError(t, err)
		require.Equal(t, pool, r.Value.Pool.Name)
		require.Equal(t, looks, l.looks.Load()-before)
	}
	for range 4 {
		claim("a", 0)
	}
	claim("b", 1) // tries a, which is full, then the others
	claim("b", 1) // does not try a again for a while
	b.release(t, "c1")
	claim("a", 1)
	b.release(t, "c2")
	b.clock.move(2 * time.Second)
	claim("a", 0)
}
