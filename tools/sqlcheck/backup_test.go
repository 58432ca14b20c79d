package sqlcheck

import (
	"os"
	"path/filepath"
	"testing"
)

// CockroachDB's grammar accepts the statements of internal/backup. A test there keeps them equal to this file.
func TestCockroachDBAcceptsTheBackupStatements(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(project, "internal", "backup", "testdata", "cockroach.txt"))
	if err != nil {
		t.Fatal(err)
	}
	statements, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for _, one := range statements {
		said[one.tree.StatementTag()]++
	}
	for _, tag := range []string{"BACKUP", "RESTORE", "SHOW BACKUP", "DROP DATABASE"} {
		if said[tag] == 0 {
			t.Errorf("no %s among %v", tag, said)
		}
	}
}
