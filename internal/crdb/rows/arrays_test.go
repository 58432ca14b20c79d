package rows_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/rows"
)

// If the driver decodes a list that quickArray encoded, it gets the same values as from its own encoding.
func TestQuickArrayDecodesLikeTheDriversArray(t *testing.T) {
	t.Parallel()
	own, quick := pgtype.NewMap(), pgtype.NewMap()
	rows.QuickArrays(quick)
	text, id := "a", [16]byte{1}
	same := func(array uint32, list, a, b any) {
		for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
			want, err := own.Encode(array, format, list, nil)
			require.NoError(t, err)
			got, err := quick.Encode(array, format, list, []byte("before"))
			require.NoError(t, err)
			require.Equal(t, "before", string(got[:6]))
			require.NoError(t, own.Scan(array, format, want, a))
			require.NoError(t, quick.Scan(array, format, got[6:], b))
			require.Equal(t, a, b)
		}
	}
	for _, list := range [][][16]byte{{}, {id}, {id, {2}, {}}} {
		same(pgtype.UUIDArrayOID, list, &[][16]byte{}, &[][16]byte{})
	}
	for _, list := range [][]*[16]byte{{}, {nil}, {&id, nil, &id}} {
		same(pgtype.UUIDArrayOID, list, &[]*[16]byte{}, &[]*[16]byte{})
	}
	for _, list := range [][]string{{}, {""}, {text, "b c", "\"{}"}} {
		same(pgtype.TextArrayOID, list, &[]string{}, &[]string{})
	}
	for _, list := range [][]*string{{}, {nil}, {&text, nil}} {
		same(pgtype.TextArrayOID, list, &[]*string{}, &[]*string{})
	}
	for _, list := range [][][]byte{{}, {nil}, {{}, {1, 2}, nil}} {
		same(pgtype.ByteaArrayOID, list, &[][]byte{}, &[][]byte{})
	}
	same(pgtype.UUIDArrayOID, []pgtype.UUID{{Bytes: id, Valid: true}}, &[][16]byte{}, &[][16]byte{}) // quickArray leaves another element type to the driver
	for _, none := range []any{[]string(nil), []*string(nil), [][]byte(nil)} {
		got, err := quick.Encode(pgtype.TextArrayOID, pgtype.BinaryFormatCode, none, nil)
		require.NoError(t, err)
		require.Nil(t, got, "no list is NULL")
	}
}
