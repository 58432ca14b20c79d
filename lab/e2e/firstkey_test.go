package e2e

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/devdb"
)

var tokens = regexp.MustCompile(`carve_[0-9a-f]{32}_[a-z2-7]{52}`)

// If a new installation makes its own database, it prints its first admin key once, in a place that no other user can read.
func TestFirstStartPrintsTheFirstKey(t *testing.T) {
	t.Parallel()
	binary, dir := serverBinary(t), dataDir(t, nil)
	start := func() (*process, *caller) {
		p := startProcess(t, binary, nil, append([]string{"--data-dir=" + dir, "--log-level=debug"}, unlimited...)...)
		return p, newCaller(p.Addr())
	}
	p, c := start()
	c.refused(t, c.do(t, http.MethodGet, "/v1/projects", nil), "unauthenticated")
	token, err := p.AdminKey(t.Context())
	require.NoError(t, err)
	root := c.as(token)
	me := decode[client.Whoami](t, root.ok(t, root.do(t, http.MethodGet, "/v1/whoami", nil)))
	require.Equal(t, "key:platform/bootstrap", me.Subject)
	require.True(t, me.PlatformAdmin)
	root.newProject(t, project)
	require.NoError(t, p.Stop())
	require.Len(t, tokens.FindAllString(p.Stdout(), -1), 1, "once")
	require.NotRegexp(t, tokens, p.Log(), "never in the log")

	t.Run("ALaterStartPrintsNoKey", func(t *testing.T) {
		again, c := start()
		root := c.as(token)
		root.ok(t, root.do(t, http.MethodGet, "/v1/projects/"+project, nil))
		dsn, err := devdb.Find(dir)
		require.NoError(t, err)
		other := c.as(bootstrap(t, dsn)) // a user who has lost the key but can reach the database makes another key
		other.ok(t, other.do(t, http.MethodGet, "/v1/projects/"+project, nil))
		auditClean(t, dsn)
		require.NoError(t, again.Stop())
		require.NotRegexp(t, tokens, again.Stdout()+again.Log())
	})
}
