package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// before is the last commit whose servers know nothing of pools in several regions: migration 0034 is its last. A server of it works beside
// those of this version while they are brought into service (docs/upgrade.md).
const before = "41d86568"

// serverBefore builds cmd/server of the version before, from the history of this checkout.
func serverBefore(t *testing.T) string {
	t.Helper()
	git := func(args ...string) ([]byte, error) {
		return exec.CommandContext(t.Context(), "git", append([]string{"-c", "safe.directory=*", "-C", "../.."}, args...)...).Output()
	}
	if _, err := git("cat-file", "-e", before+"^{commit}"); err != nil {
		t.Skipf("the version before, %s, is not in this checkout's history (a shallow clone, or no clone): git fetch --unshallow", before)
	}
	dir := openDir(t)
	source := filepath.Join(dir, "source.tar")
	_, err := git("archive", "--format=tar", "--output="+source, before)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "tar", "-x", "-f", source, "-C", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "server"), "./cmd/server")
	build.Dir = dir
	out, err = build.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "server")
}

// plainly asks a server whose contract is not this version's.
func plainly(t *testing.T, p *process, method, path string, body any) (status int, answered obj) {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		require.NoError(t, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.Addr()+"/v1"+path, bytes.NewReader(text))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	if len(text) > 0 {
		require.NoError(t, json.Unmarshal(text, &answered), string(text))
	}
	return resp.StatusCode, answered
}

// A server of the version before and one of this version, side by side on this version's schema: whatever one of them makes, the other sees,
// serves and releases, and both draw from one pool at the same time.
func TestTheVersionBeforeWorksBesideThisOne(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	older := startProcess(t, serverBefore(t), nil, "--database-url="+dsn, "--max-connections=8")
	newer := startProcess(t, serverBinary(t), nil, "--database-url="+dsn, "--max-connections=8")
	both := []*process{older, newer}
	for i, p := range both { // each makes a project with a pool, which the other uses too
		status, answered := plainly(t, p, "POST", "/projects", obj{"metadata": obj{"name": fmt.Sprintf("team-%d", i)}})
		require.Equal(t, 201, status, answered)
		status, answered = plainly(t, p, "POST", fmt.Sprintf("/projects/team-%d/pools", i),
			obj{"metadata": obj{"name": "pool"}, "spec": obj{"cidr": fmt.Sprintf("10.%d.0.0/16", i)}})
		require.Equal(t, 201, status, answered)
	}
	const claimants, rounds = 4, 25
	var mu sync.Mutex
	holder := map[string]string{} // by block
	var wg sync.WaitGroup
	for n := range claimants * 2 {
		maker, releaser := both[n%2], both[(n+1)%2]
		wg.Go(func() {
			for round := range rounds {
				team, name := round%2, fmt.Sprintf("c-%d-%d", n, round)
				claims := fmt.Sprintf("/projects/team-%d/claims", team)
				status, answered := plainly(t, maker, "POST", claims, obj{"metadata": obj{"name": name}, "spec": obj{"poolRef": obj{"name": "pool"}, "prefixLength": 28}})
				if status != 201 {
					t.Errorf("%d %v", status, answered)
					return
				}
				block := fmt.Sprint(answered["status"].(obj)["allocatedCIDR"])
				mu.Lock()
				if other, taken := holder[block]; taken {
					t.Errorf("%s is given to %s and to %s", block, other, name)
				}
				holder[block] = name
				mu.Unlock()
				if status, seen := plainly(t, releaser, "GET", claims+"/"+name, nil); status != 200 || seen["status"].(obj)["allocatedCIDR"] != block {
					t.Errorf("the other server says %d %v", status, seen)
				}
				if round%3 == 2 {
					mu.Lock() // given up by whoever holds the map, so that nobody finds it taken who gets it next
					delete(holder, block)
					mu.Unlock()
					if status, answered := plainly(t, releaser, "DELETE", claims+"/"+name, nil); status != 204 {
						t.Errorf("%d %v", status, answered)
					}
				}
			}
		})
	}
	wg.Wait()
	report, err := crdb.Audit(context.WithoutCancel(t.Context()), dsn)
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	for _, p := range both {
		require.NoError(t, p.Stop())
	}
	t.Logf("%d claims are held", len(holder))
}

// What the version before has made while it worked beside this one is found everywhere once there are regions; until the database has got them, and from
// then on not, a server of the version before can be started again.
func TestRegionsAreAddedWhenTheVersionBeforeIsGone(t *testing.T) {
	t.Parallel()
	dbtest.NeedsRegions(t)
	dsn := database(t)
	binary := serverBefore(t)
	for range 2 { // it is put out of service and, because nobody has added a region, into service again
		older := startProcess(t, binary, nil, "--database-url="+dsn, "--max-connections=4")
		plainly(t, older, "POST", "/projects", obj{"metadata": obj{"name": "team"}})
		plainly(t, older, "POST", "/projects/team/pools", obj{"metadata": obj{"name": "pool"}, "spec": obj{"cidr": "10.0.0.0/24"}})
		status, answered := plainly(t, older, "PUT", "/projects/team/claims/old", obj{"spec": obj{"poolRef": obj{"name": "pool"}, "prefixLength": 28}})
		require.Contains(t, []int{200, 201}, status, answered)
		require.NoError(t, older.Stop())
	}
	require.NoError(t, crdb.Migrate(t.Context(), dsn, crdb.MigrateOptions{Regions: []string{region, "east"}}))
	auditClean(t, dsn)
	refused := refusedProcess(t, binary, nil, "--database-url="+dsn)
	require.Contains(t, refused.Log, "the database belongs to another region")

	far := startProcess(t, serverBinary(t), nil, "--database-url="+dsn, "--region=east", "--max-connections=4")
	status, answered := plainly(t, far, "GET", "/projects/team/claims/old", nil)
	require.Equal(t, 200, status, answered)
	status, answered = plainly(t, far, "GET", "/projects/team/claims", nil)
	require.Equal(t, 200, status)
	require.Len(t, answered["items"], 1)
	status, answered = plainly(t, far, "POST", "/projects/team/pools", obj{"metadata": obj{"name": "east"}, "spec": obj{"cidr": "10.1.0.0/24"}})
	require.Equal(t, 201, status, answered) // its claims live in east
	status, answered = plainly(t, far, "POST", "/projects/team/claims", obj{"metadata": obj{"name": "old"}, "spec": obj{"poolRef": obj{"name": "east"}, "prefixLength": 28}})
	require.Equal(t, 409, status, "the name is in use: %v", answered)
	require.Equal(t, "already_exists", answered["code"])
	require.NoError(t, far.Stop())
}
