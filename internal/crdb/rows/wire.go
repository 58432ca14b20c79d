package rows

import (
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
//   - The size of a free block is its number of host bits.
//   - The size of a held block is its prefix length.

// ID converts an id for the database.
func ID(id ipam.ID) [16]byte { return id }

// IDs converts ids for the database.
func IDs(ids []ipam.ID) [][16]byte {
	out := make([][16]byte, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

// IDOf converts an id from the database. NULL becomes the zero id.
func IDOf(v *[16]byte) ipam.ID {
	if v == nil {
		return ipam.ID{}
	}
	return *v
}

// TimeOrNull converts a time for the database. The zero time becomes NULL.
func TimeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// TimeOf converts a time from the database. NULL becomes the zero time.
func TimeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
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

// HostBits returns the stored size of a free block.
func HostBits(p netip.Prefix) int16 { return int16(p.Addr().BitLen() - p.Bits()) } //nolint:gosec // 0 to 128

// Length returns the stored size of a held block.
func Length(p netip.Prefix) int16 { return int16(p.Bits()) } //nolint:gosec // 0 to 128

// Base converts the first address of a block for the database.
func Base(p netip.Prefix) []byte { return p.Addr().AsSlice() }

// Last converts the last address of a block for the database.
func Last(p netip.Prefix) []byte {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	return b
}

// After returns the exclusive lower bound of a scan. For an invalid address it is the empty string, which sorts before every address.
func After(a netip.Addr) []byte {
	if !a.IsValid() {
		return []byte{}
	}
	return a.AsSlice()
}

// Document encodes the value of a JSON column. It encodes a nil map as {}.
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
