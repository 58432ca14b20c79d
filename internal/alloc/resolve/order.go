package resolve

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// inOrder sorts the pools behind a class into the order in which they are tried.
func (s *Resolver) inOrder(ctx context.Context, r *Resolved) error {
	if len(r.Pools) < 2 || r.Ask.Class.Spec.PoolSelection != ipam.PoolsLeastUtilized {
		return nil // they come by name
	}
	held, err := s.Shares.of(ctx, s.Store, r.Pools, s.Ticks())
	if err != nil {
		return err
	}
	slices.SortStableFunc(r.Pools, func(a, b ipam.Pool) int { return cmp.Compare(held[a.UID], held[b.UID]) })
	return nil
}

// shareAge is how old the share of a pool may be by which LeastUtilized goes. Counting what is free takes as long as the pool is
// fragmented, and an order of trying need not be exact: whether a pool has room is decided when it is its turn.
const shareAge = 5 * time.Second

// maxShares bounds how many pools are remembered.
const maxShares = 16384

// Shares remembers which share of each pool is held, 0 to 1.
type Shares struct {
	mu    sync.Mutex
	known map[ipam.ID]share
}

type share struct {
	held    float64
	at      time.Time
	reading bool // somebody is reading it anew
}

// of answers the shares of the pools. Those that are not known are read at once; of those that are too old one caller reads each, while the others
// go by what they were.
func (s *Shares) of(ctx context.Context, read storage.Reader, pools []ipam.Pool, now time.Time) (map[ipam.ID]float64, error) {
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

// Took adds a block to the share of its pool, so that the claims of the next seconds do not all go to the pool that was the emptiest.
func (s *Shares) Took(pool ipam.Pool, bits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.known[pool.UID]; ok {
		k.held += 1 / float64(uint64(1)<<min(bits-pool.Block.Bits(), 63))
		s.known[pool.UID] = k
	}
}

// heldShare is the part of a pool that is not free.
func heldShare(p ipam.Pool) float64 {
	total := space.Size(p.Block)
	free, _ := new(big.Rat).SetFrac(p.Stock.Available(p.Family().Bits()), total).Float64()
	return 1 - free
}
