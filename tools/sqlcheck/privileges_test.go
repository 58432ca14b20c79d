package sqlcheck

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestPrivilegesOfAStatement(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT a FROM b": "b: SELECT\n",
		"SELECT a FROM b WHERE c IN (SELECT d FROM e)":                               "b: SELECT\ne: SELECT\n",
		"WITH x AS (SELECT a FROM b) SELECT a FROM x":                                "b: SELECT\n",
		"INSERT INTO b (a) VALUES ($1)":                                              "b: INSERT\n",
		"INSERT INTO b (a) SELECT c FROM d":                                          "b: INSERT\nd: SELECT\n",
		"INSERT INTO b (a) SELECT a FROM b WHERE a = $1":                             "b: SELECT, INSERT\n",
		"INSERT INTO b AS x (a) VALUES ($1)":                                         "b: INSERT\n",
		"INSERT INTO b (a) VALUES ($1) ON CONFLICT (a) DO NOTHING":                   "b: SELECT, INSERT\n",
		"INSERT INTO b (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET c = excluded.c": "b: SELECT, INSERT, UPDATE\n",
		"INSERT INTO b (a) VALUES ($1) RETURNING a":                                  "b: SELECT, INSERT\n",
		"UPDATE b SET a = $1 WHERE c = $2":                                           "b: SELECT, UPDATE\n",
		"UPDATE b AS x SET a = y.a FROM d AS y WHERE x.c = y.c":                      "b: SELECT, UPDATE\nd: SELECT\n",
		"DELETE FROM b WHERE a = $1":                                                 "b: SELECT, DELETE\n",
		"DELETE FROM b AS x USING d AS y WHERE x.a = y.a":                            "b: SELECT, DELETE\nd: SELECT\n",
		"SELECT a FROM b WHERE c = $1 FOR UPDATE":                                    "b: SELECT, UPDATE\n",
	} {
		statements, err := parse(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		if got := needed(subject{statement: statements[0]}).String(); got != want {
			t.Errorf("%s\n  needs %q, not %q", sql, got, want)
		}
	}
}

// beyond lists tables that a role needs and that no .sql file uses: the migration library reads the schema's version.
var beyond = map[string][]string{serverRole: {"goose_db_version"}, retentionRole: {"goose_db_version"}}

// internal/crdb/schema/tables.go grants each role exactly the privileges that its statements need.
func TestGrantsEqualThePrivilegesOfTheStatements(t *testing.T) {
	t.Parallel()
	need := map[string]privileges{serverRole: {}, retentionRole: {}, readerRole: {}, ownerRole: {}}
	root := os.DirFS(project)
	for folder, otherwise := range map[string]string{"internal/crdb/query": serverRole, "internal/crdb/audit": readerRole, "internal/crdb/restored": ownerRole} {
		files, err := fs.Sub(root, folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := neededBy(files, otherwise, need); err != nil {
			t.Fatal(err)
		}
	}
	for role, tables := range beyond {
		for _, table := range tables {
			need[role].add(table, "SELECT")
		}
	}
	source, err := os.ReadFile(filepath.Join(project, "internal", "crdb", "schema", "tables.go"))
	if err != nil {
		t.Fatal(err)
	}
	for role, granted := range readGrants(string(source)) {
		if len(need[role]) == 0 {
			t.Errorf("the statements of %s were not found", role)
		}
		if got, want := granted.String(), need[role].String(); got != want {
			t.Errorf("internal/crdb/schema/tables.go gives the %s\n%s\nand its statements need\n%s", role, got, want)
		}
	}
}
