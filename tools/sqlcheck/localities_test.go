package sqlcheck

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// toCockroach returns the regional statements for CockroachDB, in the order of internal/crdb/schema/testdata/cockroach.txt.
func toCockroach(t *testing.T) []statement {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project, "internal", "crdb", "schema", "testdata", "cockroach.txt"))
	if err != nil {
		t.Fatal(err)
	}
	statements, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return statements
}

// CockroachDB formats the localities in SHOW TABLES itself, and the product compares them with its own. With another spelling, every run of `ipamctl
// migrate` would set every locality again, and rebuild a primary key without need.
func TestLocalitiesHaveCockroachDBsSpelling(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, one := range toCockroach(t) {
		set, ok := one.tree.(*tree.AlterTableLocality)
		if !ok {
			continue
		}
		_, ours, found := strings.Cut(one.text, " SET LOCALITY ")
		if !found {
			t.Fatalf("not as it is written in Go: %s", one.text)
		}
		theirs := strings.TrimPrefix(tree.AsString(set.Locality), "LOCALITY ")
		if ours != theirs {
			t.Errorf("%q is %q in CockroachDB's words", ours, theirs)
		}
		seen[ours] = true
	}
	if len(seen) != 3 {
		t.Errorf("three localities are in use, not %v", seen)
	}
}

// The statements give a locality to each table of the migrations, and to no other. A rule for migrations requires that keys of regional tables begin
// with region.
func TestEveryTableHasALocality(t *testing.T) {
	t.Parallel()
	migrations, err := fs.Sub(os.DirFS(project), "migrations")
	if err != nil {
		t.Fatal(err)
	}
	_, known, _, err := checkMigrations(migrations)
	if err != nil {
		t.Fatal(err)
	}
	placed := map[string]bool{}
	for _, one := range toCockroach(t) {
		if set, ok := one.tree.(*tree.AlterTableLocality); ok {
			placed[set.Name.Parts[0]] = true
		}
	}
	for name := range known {
		if !placed[name] {
			t.Errorf("%s has no locality", name)
		}
	}
	for name := range placed {
		if _, ours := known[name]; !ours && name != "goose_db_version" && name != "goose_lock" {
			t.Errorf("nothing creates %s", name)
		}
	}
}

// The statements for regions and survival goals only add, so that no run of a command removes a region or the rows of a table. They quote names.
func TestRegionsAreOnlyAdded(t *testing.T) {
	t.Parallel()
	ddl := 0
	for _, one := range toCockroach(t) {
		switch set := one.tree.(type) {
		case *tree.Select, *tree.Insert, *tree.Update, *tree.CreateTable, *tree.BeginTransaction, *tree.CommitTransaction,
			*tree.CreateRole, *tree.Grant, *tree.GrantRole, *tree.Revoke: // of roles: grants_test.go
			continue
		case *tree.AlterDatabaseAddRegion:
			if !set.IfNotExists {
				t.Errorf("it may run twice: %s", one.text)
			}
		case *tree.AlterDatabasePrimaryRegion, *tree.AlterDatabaseSurvivalGoal, *tree.AlterTableLocality:
		default:
			t.Errorf("%T is nothing that is said of regions: %s", set, one.text)
		}
		ddl++
		if !strings.HasPrefix(one.text, `ALTER DATABASE "`) && !strings.HasPrefix(one.text, `ALTER TABLE "`) {
			t.Errorf("a name is not quoted: %s", one.text)
		}
	}
	if ddl == 0 {
		t.Error("nothing was found to check")
	}
}
