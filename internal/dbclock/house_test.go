package dbclock_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wallClock lists the files that read the local clock, with the purpose of each reading. No such reading decides anything. All other code uses the
// database's clock: see dbclock.Clock, usecase.Core.Now and storage.Tx.Now.
var wallClock = map[string]string{
	"alloc/usecase/core.go":  "how old what this process remembers is",
	"api/accesslog.go":       "the log's",
	"api/api.go":             "where no clock is given, as in tests",
	"api/changes.go":         "how long a request has waited, and a connection's deadline",
	"api/changes_stream.go":  "how much time has passed in a stream, and a connection's deadline",
	"api/metrics.go":         "a metric's",
	"app/app.go":             "when a file was looked at, and whether a certificate is valid",
	"app/background.go":      "a metric's",
	"app/telemetry_pools.go": "a metric's",
	"crdb/clock.go":          "how much time has passed since the database was asked",
	"crdb/tracing.go":        "a span's",
	"dbclock/clock.go":       "how much time has passed since the database was asked",
	"guard/bodies.go":        "a connection's deadline",
	"oidc/keyset.go":         "how old what this process remembers is",
	"oidc/signin.go":         "how old what this process remembers is",
	"oidc/verifier.go":       "where no clock is given, as in tests",
	"ratelimit/limiter.go":   "how much time has passed since the last request",
	"tenancy/keyring.go":     "how old what this process remembers is",
	"tenancy/sessions.go":    "how old what this process remembers is",
}

// TestServerCodeReadsTheLocalClockOnlyWhereAllowed parses the code of the server.
func TestServerCodeReadsTheLocalClockOnlyWhereAllowed(t *testing.T) {
	t.Parallel()
	asked, read := map[string]bool{}, 0
	for _, part := range []string{"alloc", "api", "app", "backup", "crdb", "dbclock", "guard", "ipam", "oidc", "ratelimit", "tenancy", "webhook"} {
		err := filepath.WalkDir(filepath.Join("..", part), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			read++
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Now" {
					if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" {
						asked[strings.TrimPrefix(filepath.ToSlash(path), "../")] = true
					}
				}
				return true
			})
			return nil
		})
		require.NoError(t, err)
	}
	require.Greater(t, read, 300, "files of the server")
	for path := range asked {
		require.Contains(t, wallClock, path, "it asks for the machine's time: take the database's, or say here why nothing is decided by it")
	}
	for path := range wallClock {
		require.True(t, asked[path], "%s does not ask for the machine's time any more", path)
	}
}
