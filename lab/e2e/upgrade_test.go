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
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/audit"
)

// serverBefore builds cmd/server of the previous version from this checkout's history. No version is released yet. So the previous version is the
// commit that introduced the current schema. During an upgrade, its server works beside servers of this version (docs/upgrade.md).
func serverBefore(t *testing.T) string {
	t.Helper()
	git := func(args ...string) ([]byte, error) {
		return exec.CommandContext(t.Context(), "git", append([]string{"-c", "safe.directory=*", "-C", "../.."}, args...)...).Output()
	}
	made, err := git("log", "-1", "--first-parent", "--format=%H", "--", "migrations/0001_schema.sql")
	before := strings.TrimSpace(string(made))
	if err != nil || before == "" {
		t.Skip("this is no clone, and so has no version before")
	}
	dir := openDir(t)
	source := filepath.Join(dir, "source.tar")
	_, err = git("archive", "--format=tar", "--output="+source, before)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "tar", "-x", "-f", source, "-C", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "server"), "./cmd/server")
	build.Dir = dir
	out, err = build.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "server")
}

// plainly sends a request without the checks of the contract, because the contract of the server's version may differ.
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

// A server of the previous version and a server of this version share this version's schema. Each must see, serve and release the objects of the
// other. Both claim from one pool at the same time.
func TestPreviousVersionWorksBesideThisOne(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	older := startProcess(t, serverBefore(t), nil, "--database-url="+dsn, "--max-connections=8", "--request-timeout=60s")
	newer := startProcess(t, serverBinary(t), nil, "--database-url="+dsn, "--max-connections=8", "--request-timeout=60s")
	both := []*process{older, newer}
	for i, p := range both { // each makes a project with a pool, which the other one uses too
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
					mu.Lock() // the lock is held during the release, so that the next holder of the block never finds the old entry in the map
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
	report, err := audit.Run(context.WithoutCancel(t.Context()), dsn)
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	for _, p := range both {
		require.NoError(t, p.Stop())
	}
	t.Logf("%d claims are held", len(holder))
}
