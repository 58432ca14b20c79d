package crdb_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/query"
	form "github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// Servers use the statements with single keys only on CockroachDB. On both engines, these statements must change exactly the rows with the given
// keys, and no row of another container.
func TestStatementsByKeyAffectExactlyTheirRows(t *testing.T) {
	t.Parallel()
	c := dbtest.Connect(t, dbtest.New(t), nil)
	free := func(container byte, n int) form.FreeBlock {
		return form.FreeBlock{Container: ipam.ID{container}, Block: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(n), 0}), 24)}
	}
	for _, n := range []int{1, 2, 3, 8, 9, query.MostKeys} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var all, named []form.FreeBlock
			for i := range n {
				named = append(named, free(byte(i%3), i))
				all = append(all, free(byte(i%3), i), free(byte(i%3+1), i))
			}
			into, columns, err := form.FreeBlocks.Arrays("free_insert", all)
			require.NoError(t, err)
			_, err = c.Exec(t.Context(), query.Get(into), append([]any{region}, columns...)...)
			require.NoError(t, err)
			name, takes := query.KeyedForm("free_delete", n)
			keys, err := form.FreeBlocks.Keys(name, named, takes)
			require.NoError(t, err)
			deleted, err := c.Exec(t.Context(), query.Get(name), append([]any{region}, keys...)...)
			require.NoError(t, err)
			require.EqualValues(t, n, deleted.RowsAffected())
			surely, there := query.CheckedForm(name)
			require.True(t, there)
			_, err = c.Exec(t.Context(), query.Get(surely), append(append([]any{region}, keys...), n)...)
			require.ErrorContains(t, err, "22012", "they are gone")
			var left int
			require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM free_blocks").Scan(&left))
			require.Equal(t, n, left)
			_, err = c.Exec(t.Context(), "DELETE FROM free_blocks WHERE true")
			require.NoError(t, err)
		})
	}
}
