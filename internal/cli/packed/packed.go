// Package packed encodes the values of one object in one string. A million such strings need much less memory than a million structures with strings.
package packed

import (
	"encoding/binary"
	"net/netip"

	"github.com/google/uuid"
)

// AppendNumber appends a number.
func AppendNumber(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

// AppendText appends a text.
func AppendText(b []byte, text string) []byte {
	return append(AppendNumber(b, uint64(len(text))), text...)
}

// AppendToken appends a text that is usually a UUID. A UUID takes half as many bytes as its text.
func AppendToken(b []byte, token string) []byte {
	if id, err := uuid.Parse(token); err == nil && id.String() == token {
		return append(append(b, 1), id[:]...)
	}
	return AppendText(append(b, 0), token)
}

// AppendAddress appends an address without a zone. The address may be the zero Addr.
func AppendAddress(b []byte, address netip.Addr) []byte {
	return AppendText(b, string(address.AsSlice()))
}

// AppendBlock appends a block. The block may be the zero Prefix.
func AppendBlock(b []byte, block netip.Prefix) []byte {
	if b = AppendAddress(b, block.Addr()); block.IsValid() {
		b = append(b, byte(block.Bits())) //nolint:gosec // G115: at most 128
	}
	return b
}

// Rest is the part of a packed string that was not read yet. A caller must read the values in the order in which they were appended.
type Rest string

// Number reads a number.
func (r *Rest) Number() uint64 {
	n, at := uint64(0), 0
	for shift := 0; ; shift += 7 {
		b := (*r)[at]
		at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	*r = (*r)[at:]
	return n
}

// Text reads a text. The result shares memory with the packed string.
func (r *Rest) Text() string {
	length := r.Number()
	text := string((*r)[:length])
	*r = (*r)[length:]
	return text
}

// Token reads a text that AppendToken appended.
func (r *Rest) Token() string {
	isUUID := (*r)[0] == 1
	*r = (*r)[1:]
	if !isUUID {
		return r.Text()
	}
	id := uuid.UUID([]byte((*r)[:16]))
	*r = (*r)[16:]
	return id.String()
}

// Address reads an address.
func (r *Rest) Address() netip.Addr {
	address, _ := netip.AddrFromSlice([]byte(r.Text())) // the zero Addr is empty
	return address
}

// Block reads a block.
func (r *Rest) Block() netip.Prefix {
	address := r.Address()
	if !address.IsValid() {
		return netip.Prefix{}
	}
	bits := int((*r)[0])
	*r = (*r)[1:]
	return netip.PrefixFrom(address, bits)
}
