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

// roomFinder finds pools with room, and caches the pools that had none a moment ago. The first pool usually has room, and a scan of all pools would waste
// a round trip. If the first pool was full, bind scans all pools before it tries that one again.
type roomFinder struct {
	*usecase.Core

	full *lru.Cache[ipam.ID, fullPool]
}

type fullPool struct {
	bits int // no block of this length was free
	at   time.Time
}

// fullAge is how long a pool counts as full; maxFulls limits the cached pools.
const (
	fullAge  = time.Second
	maxFulls = 16384
)

// withRoom returns the pools with a free block that is large enough. It scans all pools at once, so that a claim need not open a transaction on each of a
// thousand full pools.
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
	var room, parts []ipam.Pool
	for _, p := range pools {
		switch bits := res.Bits(p); {
		case has[p.UID]:
			room = append(room, p)
		case p.Several() && bits >= 0 && bits < p.Block.Addr().BitLen(): // parts of such a block may be free in several regions
			if !s.likelyFull(p, bits) {
				parts = append(parts, p) // last, because the check costs more
				continue
			}
			res.SkippedPool(p, noneFree(p, bits)) // checked a moment ago; recordFull would extend that time for ever, and no request would check again
		default:
			s.recordFull(p, bits)
			res.SkippedPool(p, noneFree(p, bits))
		}
	}
	return append(room, parts...), nil
}

func (s *roomFinder) recordFull(p ipam.Pool, bits int) { s.full.Add(p.UID, fullPool{bits, s.Ticks()}) }

// likelyFull reports whether a pool had no room for a block of this length a moment ago.
func (s *roomFinder) likelyFull(p ipam.Pool, bits int) bool {
	k, known := s.full.Get(p.UID)
	return known && bits <= k.bits && s.Ticks().Sub(k.at) < fullAge
}
