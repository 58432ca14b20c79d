package ipam

import (
	"fmt"
	"maps"
	"math/big"
)

// Stock is what is free in a pool, by size: Free[n] blocks of exactly n bits, each as large as it can be.
type Stock struct {
	Free    map[int]int64 `json:"free"`
	Cooling map[int]int64 `json:"cooling,omitempty"` // likewise, of blocks that are cooling down
}

// LargestFree is the prefix length of the largest free block; false when nothing is free.
func (s Stock) LargestFree() (int, bool) {
	best, ok := 0, false
	for bits, n := range s.Free {
		if n > 0 && (!ok || bits < best) {
			best, ok = bits, true
		}
	}
	return best, ok
}

// Available is the exact number of free addresses, for blocks of a family with hostBits (32 or 128) bits.
func (s Stock) Available(hostBits int) *big.Int {
	sum := new(big.Int)
	for bits, n := range s.Free {
		size := new(big.Int).Lsh(big.NewInt(n), uint(hostBits-bits))
		sum.Add(sum, size)
	}
	return sum
}

// Plus is a stock after changes: changed counts blocks that came, and below zero those that went. Lengths of which nothing is left are left out.
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
			return nil, fmt.Errorf("of length /%d there were %d, and %d are taken", bits, was[bits], -n)
		case next[bits] == 0:
			delete(next, bits)
		}
	}
	return next, nil
}

// Room reports whether a free block can hold a length.
func (s Stock) Room(bits int) bool {
	largest, ok := s.LargestFree()
	return ok && largest <= bits
}
