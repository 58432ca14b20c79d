package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestBootstrapCreatesAnAdminKeyInTheDatabase(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	d := operating(t)
	d.env["CARVE_DATABASE_URL"] = dsn
	r := d.run("bootstrap")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "ipamctl migrate", "the schema is not made in passing")

	d.done("migrate", "-q")
	first, second := d.done("bootstrap", "-q"), d.done("bootstrap", "--quiet")
	require.Regexp(t, `^carve_[0-9a-f]{32}_[a-z2-7]{52}\n$`, first.out)
	require.NotEqual(t, first.out, second.out, "it never fails for what was made before")
	require.Empty(t, first.err+second.err)
	require.Equal(t, []string{"admin of platform", "admin of platform"}, keysIn(t, dsn))
	require.Contains(t, d.done("audit").out, "audit clean")

	set := secretive(t)
	set.set("admin", first.out, "--server", set.URL)
	require.Contains(t, set.done("context", "show").out, strings.Split(first.out, "_")[1])
}

// keysIn returns the API keys in a database as roles and projects.
func keysIn(t *testing.T, dsn string) []string {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	rows, err := c.Query(t.Context(), `select k.role || ' of ' || p.name from api_keys k join projects p on p.id = k.project_id`)
	require.NoError(t, err)
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return keys
}

func TestBootstrapPrintsItsTokenOnceWithAHint(t *testing.T) {
	t.Parallel()
	d := answering(t)
	var region string
	d.database.Bootstrap = func(_ context.Context, dsn, r string) (string, error) {
		require.Equal(t, "postgres://db/carve", dsn)
		region = r
		return apiKey, nil
	}
	args := []string{"bootstrap", "--database-url", "postgres://db/carve"}
	r := d.done(args...)
	require.Equal(t, apiKey+"\n", r.out)
	require.NotContains(t, r.err, keySecret)
	require.Contains(t, r.err, "ipamctl context set admin --server URL --api-key-file -")
	require.Equal(t, "local", region)

	require.Equal(t, result{0, apiKey + "\n", ""}, d.done(append(args, "-q", "--region", "eu-west1")...))
	require.Equal(t, "eu-west1", region)

	var doc map[string]string
	require.NoError(t, json.Unmarshal([]byte(d.done(append(args, "-o", "json")...).out), &doc))
	require.Equal(t, map[string]string{"token": apiKey, "keyId": keyID}, doc)
	require.Equal(t, 2, d.run(append(args, "-o", "name")...).code)

	d.database.Bootstrap = func(context.Context, string, string) (string, error) { return "", errors.New("no") }
	require.Equal(t, 1, d.run(args...).code)
}
