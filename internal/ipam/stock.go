package ipam

import (
	"fmt"
	"maps"
	"math/big"
)

// Stock counts the free blocks in a pool by prefix length. Free[n] counts free blocks with length n. Adjacent free blocks are merged, so each block
// is as large as possible.
type Stock struct {
	Free    map[int]int64 `json:"free"`
	Cooling map[int]int64 `json:"cooling,omitempty"` // the same for blocks in cool-down
}

// LargestFree returns the largest free block's prefix length. It returns false if no block is free.
func (s Stock) LargestFree() (int, bool) {
	best, ok := 0, false
	for bits, n := range s.Free {
		if n > 0 && (!ok || bits < best) {
			best, ok = bits, true
		}
	}
	return best, ok
}

// Available counts the free addresses exactly. hostBits is 32 for IPv4 and 128 for IPv6.
func (s Stock) Available(hostBits int) *big.Int {
	sum := new(big.Int)
	for bits, n := range s.Free {
		size := new(big.Int).Lsh(big.NewInt(n), uint(hostBits-bits))
		sum.Add(sum, size)
	}
	return sum
}

// Plus returns the stock after some changes. changed has positive counts for added blocks, and negative counts for removed blocks. Plus omits zero
// counts. It fails if a count becomes negative.
func (s Stock) Plus(changed Stock) (next Stock, err error) {
	if next.Free, err = plus(s.Free, changed.Free); err != nil {
		return next, fmt.Errorf("free blocks: %w", err)
	}
	if next.Cooling, err = plus(s.Cooling, changed.Cooling); err != nil {
		return next, fmt.Errorf("cooling blocks: %w", err)
	}
	if len(next.Cooling) == 0 {
		next.Cooling = nil
	}
	return next, nil
}

func plus(was, changed map[int]int64) (map[int]int64, error) {
	next := make(map[int]int64, len(was)+len(changed))
	maps.Copy(next, was)
	for bits, n := range changed {
		switch next[bits] += n; {
		case next[bits] < 0:
			return nil, fmt.Errorf("length /%d: the stock has %d, and the change takes %d", bits, was[bits], -n)
		case next[bits] == 0:
			delete(next, bits)
		}
	}
	return next, nil
}

// HasRoom reports whether a free block is large enough for a block with prefix length bits.
func (s Stock) HasRoom(bits int) bool {
	largest, ok := s.LargestFree()
	return ok && largest <= bits
}
