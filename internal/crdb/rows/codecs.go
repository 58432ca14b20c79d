package rows

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/carve-ipam/carve/internal/ipam"
)

// RegisterCodecs makes a connection encode and read ids directly, because pgx uses reflection for a type that it does not know. It also makes the
// connection encode an array (ids, texts or bytes) without a memory allocation for each element. A batch has thousands.
func RegisterCodecs(m *pgtype.Map) {
	if t, known := m.TypeForOID(pgtype.UUIDOID); known {
		m.RegisterType(&pgtype.Type{Name: t.Name, OID: t.OID, Codec: idCodec{t.Codec}})
	}
	for array, element := range map[uint32]uint32{pgtype.UUIDArrayOID: pgtype.UUIDOID, pgtype.TextArrayOID: pgtype.TextOID, pgtype.ByteaArrayOID: pgtype.ByteaOID} {
		if t, known := m.TypeForOID(array); known {
			m.RegisterType(&pgtype.Type{Name: t.Name, OID: array, Codec: arrayCodec{t.Codec, element}})
		}
	}
}

// idCodec encodes and reads ipam.ID in the binary format. It reads NULL as the zero id.
type idCodec struct{ pgtype.Codec }

// PlanEncode implements pgtype.Codec.
func (c idCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if format == pgtype.BinaryFormatCode {
		switch value.(type) {
		case ipam.ID, *ipam.ID:
			return c
		}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

// Encode implements pgtype.EncodePlan.
func (c idCodec) Encode(value any, to []byte) ([]byte, error) {
	switch id := value.(type) {
	case ipam.ID:
		return append(to, id[:]...), nil
	case *ipam.ID:
		return append(to, id[:]...), nil
	}
	return nil, fmt.Errorf("PlanEncode does not support %T", value)
}

// PlanScan implements pgtype.Codec.
func (c idCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, is := target.(*ipam.ID); is && format == pgtype.BinaryFormatCode {
		return c
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

// Scan implements pgtype.ScanPlan.
func (c idCodec) Scan(from []byte, target any) error {
	id, is := target.(*ipam.ID)
	if !is || from != nil && len(from) != len(id) {
		return fmt.Errorf("cannot read an id of %d bytes into %T", len(from), target)
	}
	*id = ipam.ID{}
	copy(id[:], from)
	return nil
}

// arrayCodec is an array codec that encodes some Go types itself, in the binary format.
type arrayCodec struct {
	pgtype.Codec

	element uint32
}

// PlanEncode implements pgtype.Codec.
func (a arrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	element := uint32(0)
	switch value.(type) {
	case []ipam.ID, []*ipam.ID:
		element = pgtype.UUIDOID
	case []string, []*textOrNull:
		element = pgtype.TextOID
	case [][]byte:
		element = pgtype.ByteaOID
	}
	if format == pgtype.BinaryFormatCode && element == a.element {
		return a
	}
	return a.Codec.PlanEncode(m, oid, format, value)
}

// Encode implements pgtype.EncodePlan.
func (a arrayCodec) Encode(value any, to []byte) ([]byte, error) {
	switch list := value.(type) {
	case []ipam.ID:
		return appendArray(to, a.element, list, func(to []byte, v ipam.ID) []byte { return appendElement(to, v[:]) }), nil
	case []*ipam.ID:
		return appendArray(to, a.element, list, orNull(func(to []byte, v *ipam.ID) []byte { return appendElement(to, v[:]) })), nil
	case []string:
		return appendArray(to, a.element, list, appendElement[string]), nil
	case []*textOrNull:
		return appendArray(to, a.element, list, orNull(func(to []byte, v *textOrNull) []byte { return appendElement(to, *v) })), nil
	case [][]byte:
		return appendArray(to, a.element, list, func(to, v []byte) []byte {
			if v == nil {
				return appendNull(to)
			}
			return appendElement(to, v)
		}), nil
	}
	return nil, fmt.Errorf("PlanEncode does not support %T", value)
}

// appendArray appends an array: first the header, and then the elements. The header contains the dimension count, a flag for NULL elements, the
// element type, the length and the lower bound.
func appendArray[E any](to []byte, element uint32, list []E, each func(to []byte, v E) []byte) []byte {
	n := uint32(len(list)) //nolint:gosec // a statement has fewer elements
	to = slices.Grow(to, 20*(len(list)+1))
	for _, v := range []uint32{min(n, 1), 1, element} {
		to = binary.BigEndian.AppendUint32(to, v)
	}
	if n > 0 {
		to = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(to, n), 1)
	}
	for _, v := range list {
		to = each(to, v)
	}
	return to
}

func appendElement[T ~string | []byte](to []byte, v T) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(v))), v...) //nolint:gosec // an argument is shorter
}

func appendNull(to []byte) []byte { return binary.BigEndian.AppendUint32(to, 1<<32-1) }

// orNull returns a function that appends NULL for nil.
func orNull[V any](each func(to []byte, v *V) []byte) func([]byte, *V) []byte {
	return func(to []byte, v *V) []byte {
		if v == nil {
			return appendNull(to)
		}
		return each(to, v)
	}
}
