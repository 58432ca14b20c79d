package rows

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
)

// QuickArrays makes a connection encode arrays of ids, texts and bytes without a memory allocation for each element. A batch contains thousands of
// elements.
func QuickArrays(m *pgtype.Map) {
	for array, element := range map[uint32]uint32{pgtype.UUIDArrayOID: pgtype.UUIDOID, pgtype.TextArrayOID: pgtype.TextOID, pgtype.ByteaArrayOID: pgtype.ByteaOID} {
		if t, known := m.TypeForOID(array); known {
			m.RegisterType(&pgtype.Type{Name: t.Name, OID: array, Codec: quickArray{t.Codec, element}})
		}
	}
}

// quickArray is an array codec that encodes some Go types itself, in the binary format.
type quickArray struct {
	pgtype.Codec

	element uint32
}

// PlanEncode implements pgtype.Codec.
func (a quickArray) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if format == pgtype.BinaryFormatCode {
		switch value.(type) {
		case [][16]byte, []*[16]byte:
			if a.element == pgtype.UUIDOID {
				return a
			}
		case []string, []*string:
			if a.element == pgtype.TextOID {
				return a
			}
		case [][]byte:
			if a.element == pgtype.ByteaOID {
				return a
			}
		}
	}
	return a.Codec.PlanEncode(m, oid, format, value)
}

// Encode implements pgtype.EncodePlan.
func (a quickArray) Encode(value any, to []byte) ([]byte, error) {
	switch list := value.(type) {
	case [][16]byte:
		return appendArray(to, a.element, list, func(to []byte, v [16]byte) []byte { return appendElement(to, v[:]) }), nil
	case []*[16]byte:
		return appendArray(to, a.element, list, orNull(func(to []byte, v *[16]byte) []byte { return appendElement(to, v[:]) })), nil
	case []string:
		return appendArray(to, a.element, list, appendElement[string]), nil
	case []*string:
		return appendArray(to, a.element, list, orNull(func(to []byte, v *string) []byte { return appendElement(to, *v) })), nil
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

// appendArray appends the header of an array and then its elements. The header contains the number of dimensions, a flag for NULL elements, the
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

func appendElement[T string | []byte](to []byte, v T) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(v))), v...) //nolint:gosec // a value of a statement is shorter
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
