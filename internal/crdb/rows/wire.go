package rows

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// How values are written: ids as 16 bytes, addresses as 4 or 16 bytes in network order (their byte order is their numeric
// order on both engines), sizes of free blocks as host bits, lengths of held blocks as prefix lengths.

// ID is an id as it is written.
func ID(id ipam.ID) [16]byte { return id }

// IDs are ids as they are written.
func IDs(ids []ipam.ID) [][16]byte {
	out := make([][16]byte, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

// IDOf is an id that was read; NULL is zero.
func IDOf(v *[16]byte) ipam.ID {
	if v == nil {
		return ipam.ID{}
	}
	return *v
}

// TimeOrNull is a time as it is written; zero is NULL.
func TimeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// TimeOf is a time that was read; NULL is zero.
func TimeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// Block rebuilds a held block.
func Block(base []byte, plen int) (netip.Prefix, error) {
	addr, ok := netip.AddrFromSlice(base)
	if !ok || plen < 0 || plen > addr.BitLen() {
		return netip.Prefix{}, fmt.Errorf("stored block of %d bytes and length %d", len(base), plen)
	}
	return netip.PrefixFrom(addr, plen), nil
}

func heldIn(p netip.Prefix) held { return held{Base(p), Length(p)} }

func (h held) block() (netip.Prefix, error) { return Block(h.base, int(h.plen)) }

// HostBits is the size of a free block as it is written.
func HostBits(p netip.Prefix) int16 { return int16(p.Addr().BitLen() - p.Bits()) } //nolint:gosec // 0 to 128

// Length is the length of a held block as it is written.
func Length(p netip.Prefix) int16 { return int16(p.Bits()) } //nolint:gosec // 0 to 128

// Base is the first address of a block as it is written.
func Base(p netip.Prefix) []byte { return p.Addr().AsSlice() }

// Last is the last address of a block as it is written.
func Last(p netip.Prefix) []byte {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	return b
}

// After is the exclusive lower bound of a scan: the empty string sorts before every address.
func After(a netip.Addr) []byte {
	if !a.IsValid() {
		return []byte{}
	}
	return a.AsSlice()
}

// Document encodes a JSON column; nil maps are stored as {}.
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

// FamilyNumber is a family as it is written.
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
