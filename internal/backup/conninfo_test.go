package backup

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/cockroach.txt anew")

// PostgreSQL's programs get the URL on the command line, which other users can read. They get the password in the environment.
func TestPasswordIsNeverOnACommandLine(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]struct{ url, password string }{
		"postgres://carve:hunter2@db.example.com:5433/carve":                             {"postgres://carve@db.example.com:5433/carve", "hunter2"},
		"postgresql://carve@db.example.com/carve?password=hunter2&sslmode=verify-full":   {"postgresql://carve@db.example.com/carve?sslmode=verify-full", "hunter2"},
		"postgresql://db.example.com/carve?user=carve&pool_max_conns=4&lock_timeout=5s":  {"postgresql://db.example.com/carve?user=carve", ""},
		"postgres:///carve?host=/tmp/a%20b&user=postgres":                                {"postgres:///carve?host=%2Ftmp%2Fa%20b&user=postgres", ""},
		"postgres://carve:hunter2@db.example.com/carve?sslpassword=other&sslkey=key.pem": {"postgres://carve@db.example.com/carve?sslkey=key.pem", "hunter2"},
	} {
		url, env, err := toolURL(dsn)
		require.NoError(t, err)
		require.Equal(t, want.url, url)
		if want.password != "" {
			require.Contains(t, env, "PGPASSWORD="+want.password)
		}
	}
	for _, dsn := range []string{"host=db.example.com user=carve password=hunter2", "postgres://carve:hunter2@db:port/carve"} {
		_, _, err := toolURL(dsn)
		require.ErrorIs(t, err, ErrUsage)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestSecretInACollectionURIIsRefused(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"s3://bucket/carve?AWS_ACCESS_KEY_ID=a&AWS_SECRET_ACCESS_KEY=b", "azure-blob://c/carve?AZURE_ACCOUNT_KEY=b", "gs://b/carve?CREDENTIALS=c", "https://u:p@example.com/carve",
	} {
		require.ErrorIs(t, checkNoSecret(uri), ErrUsage, uri)
	}
	for _, uri := range []string{"external://backups", "nodelocal://1/carve", "s3://bucket/carve?AUTH=implicit"} {
		require.NoError(t, checkNoSecret(uri), uri)
	}
}

// The file records the statements for CockroachDB, because no CockroachDB runs in this test. tools/sqlcheck checks the file with CockroachDB's
// grammar.
func TestCockroachStatementsAreRecorded(t *testing.T) {
	t.Parallel()
	text := ""
	for _, sql := range []string{
		BackupStatement("carve", "external://backups"), BackupStatement(`o"brien's`, "nodelocal://1/o'brien"), BackupsStatement("external://backups"),
		RestoreStatement("carve", "2026/11/22-064500.00", "external://backups", "carve_again"), DropStatement("carve_again"),
		databasesStatement, clusterRegionsStatement, "SHOW crdb_version",
	} {
		text += sql + ";\n"
	}
	file := filepath.Join("testdata", "cockroach.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./internal/backup -run CockroachStatementsAreRecorded -update, and make test-sql")
}

func TestToolVersionIsParsed(t *testing.T) {
	t.Parallel()
	require.Equal(t, 15, majorOf("pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"))
	require.Zero(t, majorOf("BACKUP"))
}
