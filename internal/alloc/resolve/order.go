package resolve

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// sortPools sorts a class's pools into the order in which a claim tries them.
func (s *Resolver) sortPools(ctx context.Context, r *Resolved) error {
	if len(r.Pools) < 2 || r.Ask.Class.Spec.PoolSelection != ipam.PoolsLeastUtilized {
		return nil // the pools are already sorted by name
	}
	held, err := s.Shares.get(ctx, s.Store, r.Pools, s.Ticks())
	if err != nil {
		return err
	}
	slices.SortStableFunc(r.Pools, func(a, b ipam.Pool) int { return cmp.Compare(held[a.UID], held[b.UID]) })
	return nil
}

// shareAge is the greatest age of a cached share that LeastUtilized may use. Counting the free blocks again takes long in a fragmented pool. The
// pools' order need not be exact, because the transaction in the pool decides whether there is room.
const shareAge = 5 * time.Second

const maxShares = 16384

// Shares caches each pool's allocated share, from 0 to 1.
type Shares struct {
	mu    sync.Mutex
	known map[ipam.ID]share
}

type share struct {
	held    float64
	at      time.Time
	reading bool // a caller reads a new value
}

// get returns the pools' shares. It reads unknown shares at once. If a share is outdated, one caller reads it again, and other callers use the old
// value meanwhile.
func (s *Shares) get(ctx context.Context, read storage.Reader, pools []ipam.Pool, now time.Time) (map[ipam.ID]float64, error) {
	out := make(map[ipam.ID]float64, len(pools))
	var anew []ipam.Pool
	s.mu.Lock()
	for _, p := range pools {
		k, ok := s.known[p.UID]
		if out[p.UID] = k.held; ok && (k.reading || now.Sub(k.at) < shareAge) {
			continue
		}
		anew = append(anew, p)
		if ok {
			k.reading = true
			s.known[p.UID] = k
		}
	}
	s.mu.Unlock()
	if len(anew) == 0 {
		return out, nil
	}
	err := storage.FillStock(ctx, read, anew)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known)+len(anew) > maxShares {
		s.known = make(map[ipam.ID]share, len(anew))
	}
	for _, p := range anew {
		if k, ok := s.known[p.UID]; err != nil && ok {
			k.reading = false
			s.known[p.UID] = k
		}
		if err == nil {
			s.known[p.UID] = share{held: heldShare(p), at: now}
			out[p.UID] = s.known[p.UID].held
		}
	}
	return out, err
}

// Add adds a new block to its pool's share. Otherwise all claims in the next seconds would use the same emptiest pool.
func (s *Shares) Add(pool ipam.Pool, bits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.known[pool.UID]; ok {
		k.held += 1 / float64(uint64(1)<<min(bits-pool.Block.Bits(), 63))
		s.known[pool.UID] = k
	}
}

// heldShare returns the share of a pool that is not free.
func heldShare(p ipam.Pool) float64 {
	total := freespace.Size(p.Block)
	free, _ := new(big.Rat).SetFrac(p.Stock.Available(p.Family().Bits()), total).Float64()
	return 1 - free
}
