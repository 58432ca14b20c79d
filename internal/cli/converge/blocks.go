package converge

import (
	"net/netip"

	"github.com/carve-ipam/carve/client"
)

// Bounds returns a reservation's first and last address.
func Bounds(pool netip.Prefix, r client.Reservation) (from, to netip.Addr) {
	switch {
	case r.CIDR != "":
		block, err := netip.ParsePrefix(r.CIDR)
		if err != nil {
			return from, to
		}
		return block.Addr(), Last(block)
	case r.First > 0:
		return pool.Addr(), plus(pool.Addr(), r.First-1)
	case r.Last > 0:
		return plus(Last(pool), 1-r.Last), Last(pool)
	}
	from, _ = netip.ParseAddr(r.From) // the server has already checked these texts
	to, _ = netip.ParseAddr(r.To)
	return from, to
}

// plus adds an offset to an address. The offset may be negative.
func plus(a netip.Addr, n int) netip.Addr {
	bytes := a.AsSlice()
	for at := len(bytes) - 1; at >= 0 && n != 0; at-- {
		n += int(bytes[at])
		bytes[at] = byte(n & 255) // the lowest byte
		n >>= 8
	}
	out, _ := netip.AddrFromSlice(bytes)
	return out
}

// Last returns a block's last address.
func Last(block netip.Prefix) netip.Addr {
	bytes := block.Addr().AsSlice()
	for bit := block.Bits(); bit < 8*len(bytes); bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// Blocks returns the fewest CIDRs that together cover a range exactly.
func Blocks(first, last netip.Addr) (out []netip.Prefix) {
	for {
		bits := first.BitLen()
		for bits > 0 {
			wider := netip.PrefixFrom(first, bits-1)
			if wider.Masked().Addr() != first || last.Less(Last(wider)) {
				break
			}
			bits--
		}
		block := netip.PrefixFrom(first, bits)
		out = append(out, block)
		if end := Last(block); end == last || !end.Next().IsValid() {
			return out
		}
		first = Last(block).Next()
	}
}
