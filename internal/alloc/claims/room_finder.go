package claims

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// roomFinder finds the pools with room, and caches the pools that had no room a moment ago. The first pool usually has room, so a scan of all pools
// would waste a round trip. If the first pool was full a moment ago, bind scans all pools before it tries this pool again.
type roomFinder struct {
	*usecase.Core

	full *lru.Cache[ipam.ID, fullPool]
}

type fullPool struct {
	bits int // no block with this prefix length was free
	at   time.Time
}

// fullAge is how long a pool counts as full. maxFulls limits the number of cached pools.
const (
	fullAge  = time.Second
	maxFulls = 16384
)

// withRoom returns the pools with a large enough free block. It checks all pools in one query. Otherwise a claim would open a transaction on each
// full pool, and there may be a thousand such pools.
func (s *roomFinder) withRoom(ctx context.Context, res *resolve.Resolved, pools []ipam.Pool) ([]ipam.Pool, error) {
	ask := make([]storage.RoomQuery, 0, len(pools))
	for _, p := range pools {
		if bits := res.Bits(p); bits >= 0 {
			for _, c := range storage.PoolContainers(p) { // a free block in another region can be borrowed
				ask = append(ask, storage.RoomQuery{Container: c, Bits: bits})
			}
		}
	}
	has, err := s.Store.RoomIn(ctx, ask)
	if err != nil {
		return nil, err
	}
	var withRoom, parts []ipam.Pool
	for _, p := range pools {
		switch bits := res.Bits(p); {
		case has[p.UID]:
			withRoom = append(withRoom, p)
		// If several regions serve the pool, parts of the block may be free in each region.
		case p.MultiRegion() && bits >= 0 && bits < p.Block.Addr().BitLen():
			if !s.likelyFull(p, bits) {
				parts = append(parts, p) // last, because the check costs more
				continue
			}
			// The pool was checked a moment ago. recordFull would extend the entry for ever. Then no request would check the pool again.
			res.SkippedPool(p, noneFree(p, bits))
		default:
			s.recordFull(p, bits)
			res.SkippedPool(p, noneFree(p, bits))
		}
	}
	return append(withRoom, parts...), nil
}

func (s *roomFinder) recordFull(p ipam.Pool, bits int) { s.full.Add(p.UID, fullPool{bits, s.Ticks()}) }

// likelyFull reports whether a pool had no room for a block with this length a moment ago.
func (s *roomFinder) likelyFull(p ipam.Pool, bits int) bool {
	k, known := s.full.Get(p.UID)
	return known && bits <= k.bits && s.Ticks().Sub(k.at) < fullAge
}
