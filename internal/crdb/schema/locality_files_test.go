package schema

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/migrations"
)

// CockroachDB gets the same migration files as PostgreSQL, with the locality of each table added.
func TestMigrationsCreateTablesWithTheirLocality(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(migrations.FS, "*.sql")
	require.NoError(t, err)
	for _, regions := range []int{1, 2, 3} {
		placed := map[string]Locality{"goose_db_version": RegionalByTable, "goose_lock": RegionalByTable} // the default locality of a table
		for _, file := range names {
			written, err := fs.ReadFile(postgres{}.files(regions), file)
			require.NoError(t, err)
			read, err := fs.ReadFile(cockroach{}.files(regions), file)
			require.NoError(t, err)
			rest := string(read)
			for _, statement := range strings.SplitAfter(rest, ";") {
				if create, locality, found := strings.Cut(statement, " LOCALITY "); found {
					placed[newTable.FindStringSubmatch(create)[1]] = Locality(strings.TrimSuffix(locality, ";"))
					rest = strings.Replace(rest, statement, create+";", 1)
				}
			}
			require.Equal(t, string(written), rest)
		}
		want := map[string]Locality{}
		for _, l := range Tables() {
			want[l.Name] = l.localityIn(regions)
		}
		require.Equal(t, want, placed, "a table is made with its columns and its locality on lines of their own, as those before it")
	}
	_, err = cockroach{}.files(1).Open("none.sql")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestUnknownTableIsCreatedUnchanged(t *testing.T) {
	t.Parallel()
	const sql = "CREATE TABLE IF NOT EXISTS strangers (\n    id UUID\n);\n"
	require.Equal(t, sql, withLocalities(sql, 3))
}
