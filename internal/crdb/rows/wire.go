package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The database stores values in these forms:
//
//   - An id has 16 bytes.
//   - An address has 4 or 16 bytes in network order, so that both engines sort addresses as numbers.
//   - A free block's size is its number of host bits.
//   - A held block's size is its prefix length.

// CompareIDs orders ids as the database does.
func CompareIDs(a, b ipam.ID) int { return bytes.Compare(a[:], b[:]) }

// TimeOrNull converts a time for the database. The zero time becomes NULL.
func TimeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Block returns the block that is stored in two columns.
func Block(base []byte, plen int) (netip.Prefix, error) {
	addr, ok := netip.AddrFromSlice(base)
	if !ok || plen < 0 || plen > addr.BitLen() {
		return netip.Prefix{}, fmt.Errorf("stored block of %d bytes and length %d", len(base), plen)
	}
	return netip.PrefixFrom(addr, plen), nil
}

func heldIn(p netip.Prefix) held { return held{Base(p), Length(p)} }

func (h held) block() (netip.Prefix, error) { return Block(h.base, int(h.plen)) }

// HostBits returns a free block's stored size.
func HostBits(p netip.Prefix) int16 { return int16(p.Addr().BitLen() - p.Bits()) } //nolint:gosec // 0 to 128

// Length returns a held block's stored size.
func Length(p netip.Prefix) int16 { return int16(p.Bits()) } //nolint:gosec // 0 to 128

// Base converts a block's first address for the database.
func Base(p netip.Prefix) []byte { return p.Addr().AsSlice() }

// Last converts a block's last address for the database.
func Last(p netip.Prefix) []byte {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	return b
}

// After returns a scan's exclusive lower bound. For an invalid address it is the empty string, which sorts before every address.
func After(a netip.Addr) []byte {
	if !a.IsValid() {
		return []byte{}
	}
	return a.AsSlice()
}

// Document encodes a JSON column's value. It encodes a nil map as {}.
func Document(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	if string(raw) == "null" {
		return "{}", nil
	}
	return string(raw), nil
}

// FamilyNumber converts an address family for the database.
func FamilyNumber(f ipam.Family) int16 {
	if f == ipam.IPv4 {
		return 4
	}
	return 6
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

func emptyToNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
