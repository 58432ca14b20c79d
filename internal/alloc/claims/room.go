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

// rooms looks where there is room, and remembers which pools had none a moment ago. The first of several pools mostly has room, and then looking at all
// of them first is a round trip for nothing; when it was full, they are looked at before it is tried again.
type rooms struct {
	*usecase.Core

	full *lru.Cache[ipam.ID, fullPool]
}

type fullPool struct {
	bits int // a block of this length could not be had
	at   time.Time
}

// How long a pool is taken for full, and how many are remembered.
const (
	fullAge  = time.Second
	maxFulls = 16384
)

// with leaves, of several pools, those that have a free block which is large enough for what is wanted of them: one look at all, so
// that a claim need not open a transaction on each of a thousand full pools.
func (s *rooms) with(ctx context.Context, res *resolve.Resolved, pools []ipam.Pool) ([]ipam.Pool, error) {
	ask := make([]storage.RoomQuery, 0, len(pools))
	for _, p := range pools {
		if bits := res.Bits(p); bits >= 0 {
			for _, c := range storage.PoolContainers(p) { // what is free in another region can be borrowed
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
		case p.Several() && bits >= 0 && bits < p.Block.Addr().BitLen(): // such a block may be free in parts, in several regions
			if !s.likelyFull(p, bits) {
				parts = append(parts, p) // last, because finding out costs more
				continue
			}
			res.SkippedPool(p, noneFree(p, bits)) // it was found out a moment ago, and is not noted anew: or nobody would find out again
		default:
			s.noteFull(p, bits)
			res.SkippedPool(p, noneFree(p, bits))
		}
	}
	return append(room, parts...), nil
}

func (s *rooms) noteFull(p ipam.Pool, bits int) { s.full.Add(p.UID, fullPool{bits, s.Ticks()}) }

// likelyFull reports whether a pool had no room a moment ago for a block of a length.
func (s *rooms) likelyFull(p ipam.Pool, bits int) bool {
	k, known := s.full.Get(p.UID)
	return known && bits <= k.bits && s.Ticks().Sub(k.at) < fullAge
}
