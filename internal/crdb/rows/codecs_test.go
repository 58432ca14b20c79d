package rows_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The driver decodes an id that idCodec encoded. idCodec reads an id from the driver's encoding, and NULL as the zero id.
func TestIDRoundTrips(t *testing.T) {
	t.Parallel()
	own, quick := pgtype.NewMap(), pgtype.NewMap()
	rows.RegisterCodecs(quick)
	id := ipam.NewID()
	for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
		want, err := own.Encode(pgtype.UUIDOID, format, [16]byte(id), nil)
		require.NoError(t, err)
		for _, value := range []any{id, &id, [16]byte(id)} {
			got, err := quick.Encode(pgtype.UUIDOID, format, value, []byte("before"))
			require.NoError(t, err)
			require.Equal(t, append([]byte("before"), want...), got)
		}
		var read ipam.ID
		require.NoError(t, quick.Scan(pgtype.UUIDOID, format, want, &read))
		require.Equal(t, id, read)
	}
	read := id
	require.NoError(t, quick.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, nil, &read))
	require.Zero(t, read)
	require.Error(t, quick.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, []byte{1}, &read))
	got, err := quick.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, (*ipam.ID)(nil), nil)
	require.NoError(t, err)
	require.Nil(t, got, "no id is NULL")
}

// If the driver decodes a list that arrayCodec encoded, it gets the same values as from its own encoding.
func TestArrayDecodesLikeTheDriversArray(t *testing.T) {
	t.Parallel()
	own, quick := pgtype.NewMap(), pgtype.NewMap()
	rows.RegisterCodecs(quick)
	text, id := rows.TextOrNull("a"), ipam.ID{1}
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
	for _, list := range [][]ipam.ID{{}, {id}, {id, {2}, {}}} {
		same(pgtype.UUIDArrayOID, list, &[][16]byte{}, &[][16]byte{})
	}
	for _, list := range [][]*ipam.ID{{}, {nil}, {&id, nil, &id}} {
		same(pgtype.UUIDArrayOID, list, &[]*[16]byte{}, &[]*[16]byte{})
	}
	for _, list := range [][]string{{}, {""}, {"a", "b c", "\"{}"}} {
		same(pgtype.TextArrayOID, list, &[]string{}, &[]string{})
	}
	for _, list := range [][]*rows.TextOrNull{{}, {nil}, {&text, nil}} {
		same(pgtype.TextArrayOID, list, &[]*string{}, &[]*string{})
	}
	for _, list := range [][][]byte{{}, {nil}, {{}, {1, 2}, nil}} {
		same(pgtype.ByteaArrayOID, list, &[][]byte{}, &[][]byte{})
	}
	same(pgtype.UUIDArrayOID, []pgtype.UUID{{Bytes: id, Valid: true}}, &[][16]byte{}, &[][16]byte{}) // arrayCodec leaves another element type to the driver
	for _, none := range []any{[]string(nil), []*rows.TextOrNull(nil), [][]byte(nil)} {
		got, err := quick.Encode(pgtype.TextArrayOID, pgtype.BinaryFormatCode, none, nil)
		require.NoError(t, err)
		require.Nil(t, got, "no list is NULL")
	}
}
