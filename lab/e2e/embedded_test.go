package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/devdb"
)

// dataDir returns a directory for a database that only the given user can read. The test removes it at its end.
func dataDir(t testing.TB, who user) string {
	t.Helper()
	open := openDir(t)
	t.Cleanup(func() { _ = os.RemoveAll(open) })
	dir := filepath.Join(open, "data")
	if who != nil {
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chown(dir, int(who.Uid), int(who.Gid)))
	}
	return dir
}

// A server without --database-url starts its own database. The data survive however the server ends.
func TestEmbeddedDatabase(t *testing.T) {
	t.Parallel()
	users := map[string]user{"AsTheUserOfTheTest": nil}
	if os.Geteuid() == 0 {
		users = map[string]user{"AsRoot": nil, "AsAnOrdinaryUser": {Uid: 65534, Gid: 65534}}
	}
	for name, who := range users {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binary, dir := serverBinary(t), dataDir(t, who)
			start := func() (*process, *caller) {
				p := startProcess(t, binary, who, "--data-dir="+dir, "--request-timeout=60s")
				return p, newCaller(p.Addr())
			}
			p, c := start()
			c.created(t, c.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
			c.pool(t, "p", obj{"cidr": "10.0.0.0/16"})
			first := c.claim(t, "first", from("p", 24))
			read := func(c *caller) client.IPClaim {
				return decode[client.IPClaim](t, c.ok(t, c.do(t, http.MethodGet, at("claims", "first"), nil)))
			}

			t.Run("IsNotSharedByTwoServers", func(t *testing.T) {
				second := refusedProcess(t, binary, who, "--data-dir="+dir)
				require.Equal(t, 1, second.State.ExitCode())
				require.Contains(t, second.Log, dir, "says which directory")
				require.Contains(t, second.Log, "in use", "says why")
				require.Equal(t, first, read(c), "the first one goes on")
			})
			t.Run("SurvivesARestart", func(t *testing.T) {
				require.NoError(t, p.Stop())
				p, c = start()
				require.Equal(t, first, read(c))
			})
			t.Run("KeepsWhatWasAcknowledgedWhenTheServerIsKilled", func(t *testing.T) {
				const blocks = 512
				c.pool(t, "q", obj{"cidr": "10.1.0.0/23"})
				c.release(t, "first")
				l := newLedger(blocks + 1)
				var down sync.RWMutex
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() {
						l.hoard(t.Context(), t, c, "c"+string(rune('a'+i)), from("q", 32), func() {
							down.RLock()
							defer down.RUnlock()
						})
					})
				}
				l.await(t.Context(), blocks/4)
				down.Lock()
				p.Kill()
				p, _ = start()
				c.follow(p.Addr())
				down.Unlock()
				wg.Wait()
				l.holds(t, c, blocks)
			})
			t.Run("IsAuditedClean", func(t *testing.T) {
				dsn, err := devdb.Find(dir)
				require.NoError(t, err)
				auditClean(t, dsn)
				require.NoError(t, p.Stop())
			})
		})
	}
}
