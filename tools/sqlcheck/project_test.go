package sqlcheck

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestProjectsSQLPassesEveryCheck checks the project's own SQL. Each part fails when it finds nothing to check, because it would otherwise always pass.
func TestProjectsSQLPassesEveryCheck(t *testing.T) {
	t.Parallel()
	root := os.DirFS(filepath.Join("..", ".."))
	sub := func(t *testing.T, folder string) fs.FS {
		t.Helper()
		files, err := fs.Sub(root, folder)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	report := func(t *testing.T, findings []Finding, checked int, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if checked == 0 {
			t.Error("nothing was found to check")
		}
		for _, finding := range findings {
			t.Error(finding)
		}
		t.Logf("%d files", checked)
	}

	t.Run("ItsMigrationsRunOnBothEngines", func(t *testing.T) {
		t.Parallel()
		findings, _, checked, err := checkMigrations(sub(t, "migrations"))
		report(t, findings, checked, err)
	})
	t.Run("ItsStatementsMeanTheSameOnBothEngines", func(t *testing.T) {
		t.Parallel()
		_, known, _, err := checkMigrations(sub(t, "migrations"))
		if err != nil {
			t.Fatal(err)
		}
		findings, checked, err := checkQueries(sub(t, "internal"), known)
		report(t, findings, checked, err)
	})
	t.Run("ItsCockroachDBStatementsAreParsed", func(t *testing.T) {
		t.Parallel()
		// Regions, survival goals, localities, and the statements of the migration library. Tests in internal/crdb and its packages check that these are
		// all.
		kinds := map[string]int{}
		for _, room := range []string{"", "schema/", "audit/"} {
			text, err := fs.ReadFile(root, "internal/crdb/"+room+"testdata/cockroach.txt")
			if err != nil {
				t.Fatal(err)
			}
			statements, err := parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range statements {
				kinds[fmt.Sprintf("%T", one.tree)]++
			}
		}
		for _, kind := range []string{"BeginTransaction", "AlterDatabasePrimaryRegion", "AlterDatabaseAddRegion", "AlterDatabaseSurvivalGoal", "AlterTableLocality", "Select"} {
			if kinds["*tree."+kind] == 0 {
				t.Errorf("no %s in %v", kind, kinds)
			}
		}
	})
	t.Run("ItsGoCodeHoldsNoStatement", func(t *testing.T) {
		t.Parallel()
		// These packages start databases and break connections; their SQL is not the product's.
		findings, checked, err := checkGo(sub(t, "internal"), "devdb", "testkit")
		report(t, findings, checked, err)
	})
}
