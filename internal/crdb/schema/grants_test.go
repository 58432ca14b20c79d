package schema_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/roletest"
)

// runBy returns the statements of each role, by name.
func runBy(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{"server": {}, "retention": {}, "reader": {}, "owner": {}}
	for name, sql := range query.All() {
		who := cmp.Or(query.Remark(name, "roles"), "server")
		for role := range strings.SplitSeq(who, ", ") {
			require.Contains(t, out, role, name)
			out[role][name] = sql
		}
	}
	files, err := filepath.Glob(filepath.Join("..", "audit", "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		sql, err := os.ReadFile(path)
		require.NoError(t, err)
		out["reader"]["audit_"+strings.TrimSuffix(filepath.Base(path), ".sql")] = strings.TrimSpace(string(sql))
	}
	return out
}

// prepared is the session of a login user. It has prepared all statements of its role.
type prepared struct {
	c         *pgx.Conn
	execution map[string]string // by name; EXPLAIN does not run the statement
}

func prepare(t *testing.T, dsn string, statements map[string]string) prepared {
	t.Helper()
	p := prepared{dbtest.Connect(t, dsn, nil), map[string]string{}}
	for name, sql := range statements {
		_, err := p.c.Exec(t.Context(), "PREPARE "+name+" AS "+sql, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err, name)
		var n int
		require.NoError(t, p.c.QueryRow(t.Context(), "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = $1", name).Scan(&n))
		arguments := ""
		if n > 0 {
			arguments = "(" + strings.Join(slices.Repeat([]string{"NULL"}, n), ", ") + ")"
		}
		p.execution[name] = "EXPLAIN EXECUTE " + name + arguments
	}
	return p
}

// refused returns the statements on a table that the user may not run. PostgreSQL checks the privileges when an execution starts, and EXPLAIN starts
// an execution.
func (p prepared) refused(t *testing.T, statements map[string]string, table string) (names []string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		if !strings.Contains(statements[name], table) {
			continue
		}
		_, err := p.c.Exec(t.Context(), p.execution[name], pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			require.ErrorContains(t, err, "42501", name)
			names = append(names, name)
		}
	}
	return names
}

// PostgreSQL confirms the result of tools/sqlcheck. With its grants, a role can run all its statements. Without any one of its grants, at least one
// statement fails.
func TestGrantsAreSufficientAndMinimal(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	by := runBy(t)
	root := dbtest.Connect(t, in.Root, nil)
	for role, who := range map[string]string{"server": roletest.Server, "retention": roletest.Cron, "reader": roletest.Reader} {
		session := prepare(t, in.DSN[who], by[role])
		require.Empty(t, session.refused(t, by[role], ""), role)
		for _, g := range schema.Tables() {
			list := map[string]string{"server": g.Server, "retention": g.Retention, "reader": g.Reader}[role]
			for privilege := range strings.SplitSeq(list, ", ") {
				if privilege == "" || g.Name == "goose_db_version" { // goose reads this table
					continue
				}
				of := fmt.Sprintf("%s ON %s", privilege, g.Name)
				_, err := root.Exec(t.Context(), fmt.Sprintf("REVOKE %s FROM %s_%s", of, in.Prefix, role))
				require.NoError(t, err)
				assert.NotEmpty(t, session.refused(t, by[role], g.Name), "no statement of %s needs %s", role, of)
				_, err = root.Exec(t.Context(), fmt.Sprintf("GRANT %s TO %s_%s", of, in.Prefix, role))
				require.NoError(t, err)
			}
		}
	}
}

// The table in docs/database-roles.md equals the grants.
func TestDocumentedGrantsMatch(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "database-roles.md"))
	require.NoError(t, err)
	cell := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	var want strings.Builder
	want.WriteString("| table | server | retention | reader |\n|---|---|---|---|\n")
	for _, g := range schema.Tables() {
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", g.Name, cell(g.Server), cell(g.Retention), cell(g.Reader))
	}
	require.Contains(t, string(text), want.String())
}
