package crdb

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// How values are written: ids as 16 bytes, addresses as 4 or 16 bytes in network order (their byte order is their numeric
// order on both engines), sizes of free blocks as host bits, lengths of held blocks as prefix lengths.

func uuid(id ipam.ID) [16]byte { return id }

func uuids(ids []ipam.ID) [][16]byte {
	out := make([][16]byte, len(ids))
	for i, id := range ids {
		out[i] = uuid(id)
	}
	return out
}

// block rebuilds a held block.
func block(base []byte, plen int) (netip.Prefix, error) {
	addr, ok := netip.AddrFromSlice(base)
	if !ok || plen < 0 || plen > addr.BitLen() {
		return netip.Prefix{}, fmt.Errorf("stored block of %d bytes and length %d", len(base), plen)
	}
	return netip.PrefixFrom(addr, plen), nil
}

// freeBlock rebuilds a free block from its host bits.
func freeBlock(base []byte, hostBits int) (netip.Prefix, error) {
	return block(base, len(base)*8-hostBits)
}

func hostBits(p netip.Prefix) int16 { return int16(p.Addr().BitLen() - p.Bits()) } //nolint:gosec // 0 to 128

func plen(p netip.Prefix) int16 { return int16(p.Bits()) } //nolint:gosec // 0 to 128

func base(p netip.Prefix) []byte { return p.Addr().AsSlice() }

// last is the last address of a block.
func last(p netip.Prefix) []byte {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	return b
}

// after is the exclusive lower bound of a scan: the empty string sorts before every address.
func after(a netip.Addr) []byte {
	if !a.IsValid() {
		return []byte{}
	}
	return a.AsSlice()
}

// document encodes a JSON column; nil maps are stored as {}.
func document(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	if string(raw) == "null" {
		return "{}", nil
	}
	return string(raw), nil
}

func smallPtr(n *int) *int16 {
	if n == nil {
		return nil
	}
	v := int16(*n) //nolint:gosec // validated, 0 to 128
	return &v
}

func intPtr(n *int16) *int {
	if n == nil {
		return nil
	}
	v := int(*n)
	return &v
}

// seconds is a duration as it is written.
func seconds(d time.Duration) int64 { return int64(d / time.Second) }

func secondsPtr(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := seconds(*d)
	return &n
}

func durationPtr(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Second
	return &d
}

// idPtr is an id as it is written; zero is NULL.
func idPtr(id ipam.ID) *[16]byte {
	if id.IsZero() {
		return nil
	}
	v := uuid(id)
	return &v
}

// idOf is an id that was read; NULL is zero.
func idOf(v *[16]byte) ipam.ID {
	if v == nil {
		return ipam.ID{}
	}
	return *v
}

// familyNumber is a family as it is written.
func familyNumber(f ipam.Family) int16 {
	if f == ipam.IPv4 {
		return 4
	}
	return 6
}

// emptyToNil keeps absent labels absent.
func emptyToNil(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}
