package e2e

import (
	"crypto/rand"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestServerRefusesToStartWithAReason(t *testing.T) {
	t.Parallel()
	binary := serverBinary(t)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, tc := range map[string]struct {
		flags []string
		code  int
		says  string
	}{
		"UnknownFlag":         {[]string{"--data-dri=x"}, 2, "did you mean --data-dir?"},
		"BeyondLoopback":      {[]string{"--listen=0.0.0.0:0"}, 2, "loopback"},
		"DataDirIsAFile":      {[]string{"--data-dir=" + file}, 1, file},
		"NoSuchDatabase":      {[]string{"--database-url=postgres://127.0.0.1:1/x?sslmode=disable"}, 1, "database"},
		"UnknownRegion":       {[]string{"--database-url=" + database(t), "--region=mars"}, 1, "`ipamctl migrate --regions local,mars`"},
		"EmptyDatabase":       {[]string{"--database-url=" + emptyDatabase(t)}, 1, "ipamctl migrate"},
		"MalformedDatabase":   {[]string{"--database-url=://"}, 1, "database URL"},
		"AddressInUse":        {[]string{"--listen=" + *setupEmpty(t).addr.Load(), "--database-url=" + database(t)}, 1, "cannot listen on"},
		"CockroachIsNotThere": {[]string{"--embedded=cockroach", "--data-dir=" + t.TempDir()}, 1, "cockroach"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := refusedProcess(t, binary, nil, tc.flags...)
			require.Equal(t, tc.code, refused.State.ExitCode(), refused.Log)
			require.Contains(t, refused.Log, tc.says)
			require.Equal(t, 1, strings.Count(refused.Log, "server: "), "once: %s", refused.Log)
		})
	}
}

// emptyDatabase returns a database that was never migrated.
func emptyDatabase(t testing.TB) (dsn string) {
	t.Helper()
	beside := dbtest.New(t)
	conn, err := pgx.Connect(t.Context(), beside)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	name := "carve_empty_" + strings.ToLower(rand.Text())
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	u, err := url.Parse(beside)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}
