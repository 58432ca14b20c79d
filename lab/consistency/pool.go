package consistency

import (
	"fmt"
	"net/netip"
)

// Pool is a pool in a history. It is empty when the history begins.
type Pool struct {
	Name  string
	Block netip.Prefix
	Unit  int // the longest prefix length of the pool's claims; Unit - Block.Bits() is at most 12
}

// maxDepth limits a pool to 4096 units, because the model visits each unit.
const maxDepth = 12

func (p Pool) check() {
	if depth := p.Unit - p.Block.Bits(); p.Block.Masked() != p.Block || depth < 0 || depth > maxDepth || p.Unit > p.Block.Addr().BitLen() {
		panic(fmt.Sprintf("consistency: %s (%v) cannot be judged in units of /%d", p.Name, p.Block, p.Unit))
	}
}

// units returns the number of blocks of length Unit in the pool.
func (p Pool) units() int { return 1 << (p.Unit - p.Block.Bits()) }

// size returns the number of units in a block of a length. It returns 0 for a length that is not between the pool's own length and Unit.
func (p Pool) size(bits int) int {
	if bits < p.Block.Bits() || bits > p.Unit {
		return 0
	}
	return 1 << (p.Unit - bits)
}

// at returns the block of a length that begins with the given unit.
func (p Pool) at(unit, bits int) netip.Prefix {
	b := p.Block.Addr().AsSlice()
	for i := range maxDepth + 1 { // writes the bits of unit after the bits of the pool's prefix
		at := p.Unit - 1 - i
		if at < 0 {
			break
		}
		if unit>>i&1 == 1 {
			b[at/8] |= 0x80 >> (at % 8)
		}
	}
	addr, _ := netip.AddrFromSlice(b)
	return netip.PrefixFrom(addr, bits)
}

// At returns the block of a length that begins with the given unit. Units are counted from the pool's first address.
func (p Pool) At(unit, bits int) netip.Prefix { return p.at(unit, bits) }

// unit returns the first unit of a block. It returns false if the block does not belong to the pool.
func (p Pool) unit(block netip.Prefix) (int, bool) {
	if !block.IsValid() || block.Masked() != block || p.size(block.Bits()) == 0 || !p.Block.Contains(block.Addr()) {
		return 0, false
	}
	b, unit := block.Addr().AsSlice(), 0
	for at := p.Block.Bits(); at < p.Unit; at++ {
		unit = unit<<1 | int(b[at/8]>>(7-at%8)&1)
	}
	return unit, true
}
