package ipam

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// ID is a UUID, 16 bytes in network order. It identifies a resource and is never reused. The name of a deleted resource can be reused. The zero ID
// means "none".
type ID [16]byte

// NewID makes a random (version 4, RFC 9562) ID.
func NewID() ID {
	var id ID
	_, _ = rand.Read(id[:]) // crypto/rand.Read never fails; it aborts the process instead (Go 1.24).
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// NewTimeID makes an ID that sorts by its time in microseconds (version 7, RFC 9562, method 3). It has 48 bits of milliseconds and 12 bits for the
// part of a millisecond, followed by random bits.
func NewTimeID(at time.Time) ID {
	return NewID().withTime(at)
}

// Numbered returns an ID with another time and with the number n. The receiver comes from NewTimeID. n replaces the last 16 random bits, and the
// other random bits stay.
func (id ID) Numbered(at time.Time, n uint16) ID {
	id = id.withTime(at)
	binary.BigEndian.PutUint16(id[14:], n)
	return id
}

// withTime returns the ID with another time. It rounds the part of a millisecond up, so that Time returns the same microsecond.
func (id ID) withTime(t time.Time) ID {
	us := t.Nanosecond() / 1000 % 1000
	binary.BigEndian.PutUint64(id[:8], uint64(t.UnixMilli())<<16|0x7000|uint64(us<<12+999)/1000) //nolint:gosec // us is 0 to 999
	return id
}

// Next returns the ID with the next number.
func (id ID) Next() ID {
	binary.BigEndian.PutUint16(id[14:], binary.BigEndian.Uint16(id[14:])+1)
	return id
}

// Time returns the time of an ID from NewTimeID, to the microsecond.
func (id ID) Time() time.Time {
	bits := binary.BigEndian.Uint64(id[:8])
	return time.UnixMilli(int64(bits >> 16)).Add(time.Duration(bits&0xfff*1000>>12) * time.Microsecond).UTC()
}

// FirstTimeID returns a lower bound for the IDs that NewTimeID makes at a time or later. It is greater than all IDs from earlier milliseconds.
func FirstTimeID(at time.Time) ID {
	var id ID
	binary.BigEndian.PutUint64(id[:8], uint64(max(at.UnixMilli(), 0))<<16)
	return id
}

// IsZero reports whether the ID means "none".
func (id ID) IsZero() bool { return id == ID{} }

// String returns the canonical 36-character lower-case form.
func (id ID) String() string {
	var b [36]byte
	return string(id.AppendTo(b[:0]))
}

// AppendTo appends String's result to a slice.
func (id ID) AppendTo(to []byte) []byte {
	var b [36]byte
	hex.Encode(b[0:8], id[0:4])
	b[8] = '-'
	hex.Encode(b[9:13], id[4:6])
	b[13] = '-'
	hex.Encode(b[14:18], id[6:8])
	b[18] = '-'
	hex.Encode(b[19:23], id[8:10])
	b[23] = '-'
	hex.Encode(b[24:36], id[10:16])
	return append(to, b[:]...)
}

// MarshalText implements encoding.TextMarshaler.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It accepts only the canonical form.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

var errNotAnID = errors.New("not a UUID in canonical form")

// ParseID parses the canonical 36-character form. It refuses upper case, so that an ID has only one spelling.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, errNotAnID
	}
	compact := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(id[:], []byte(compact)); err != nil || id.String() != s {
		return ID{}, errNotAnID
	}
	return id, nil
}

// DerivedID makes an ID (version 8, RFC 9562) from another ID and a name. Equal arguments give the same ID. Use it if a retried transaction must
// write the same ID again.
func DerivedID(from ID, name string) ID {
	sum := sha256.Sum256(append(append(make([]byte, 0, 64), from[:]...), name...)) // mostly on the stack
	id := ID(sum[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}
