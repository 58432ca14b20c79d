package acceptance_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// many returns a configuration with n claims in one pool. The configuration does not contain the pool, so two configurations can use it.
func many(project string, n int, names string) string {
	return fmt.Sprintf(`resource "carve_claim" "many" {
  for_each      = toset([for i in range(%d) : tostring(i)])
  project       = %q
  name          = "%s${each.key}"
  pool          = "prod"
  prefix_length = 28
}
`, n, project, names)
}

// prepared creates a project with a pool on a server. It returns the name of the project.
func prepared(t testing.TB, s *server) string {
	t.Helper()
	name, _ := team(t)
	_, err := s.CreateProject(t.Context(), client.ProjectCreate{Metadata: client.CreateMetadata{Name: name}})
	require.NoError(t, err)
	_, err = s.CreatePool(t.Context(), name, client.IPPoolCreate{Metadata: client.CreateMetadata{Name: "prod"}, Spec: client.IPPoolSpec{CIDR: "10.20.0.0/16"}})
	require.NoError(t, err)
	return name
}

// claims returns the claims on the server by name. It checks that their blocks do not overlap.
func claims(t testing.TB, s *server, project string) map[string]client.IPClaim {
	t.Helper()
	found, blocks := map[string]client.IPClaim{}, map[netip.Prefix]string{}
	for c, err := range s.Claims(t.Context(), project) {
		require.NoError(t, err)
		found[c.Metadata.Name] = c
		block := netip.MustParsePrefix(c.Status.AllocatedCIDR)
		require.Empty(t, blocks[block])
		blocks[block] = c.Metadata.Name
	}
	return found
}

func TestKilledApplyIsResumed(t *testing.T) {
	t.Parallel()
	const n = 80
	project := prepared(t, world.main)
	f := newFolder(t, world.main, project+"/one", many(project, n, "c"))
	for range 2 {
		had := len(claims(t, world.main, project))
		cmd := f.command(t.Context(), "apply", "-auto-approve", "-parallelism=2") // slow enough for an interrupt
		require.NoError(t, cmd.Start())
		for len(claims(t, world.main, project)) < had+n/4 { // each check sends a request
			if err := t.Context().Err(); err != nil {
				require.NoError(t, err)
			}
		}
		require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
		require.Error(t, cmd.Wait())
		f.remove(".terraform.tfstate.lock.info")
	}
	before := claims(t, world.main, project)
	require.Less(t, len(before), n, "it was killed in the middle")
	// In the worst case, the state has no object.
	f.remove("terraform.tfstate", "terraform.tfstate.backup")

	stranger := newFolder(t, world.main, project+"/two", many(project, n, "c"))
	require.Contains(t, stranger.fails(), `for the Terraform configuration "`+project+`/one"`)
	stranger.destroy()

	f.apply()
	f.empty()
	require.Len(t, f.state(), n)
	after := claims(t, world.main, project)
	require.Len(t, after, n)
	kept := 0
	for name, c := range before {
		if after[name].Metadata.UID == c.Metadata.UID {
			kept++
		}
	}
	require.NotZero(t, kept)
	f.destroy()
	require.Empty(t, claims(t, world.main, project))
}

func TestConcurrentRunsDoNotShareAClaim(t *testing.T) {
	t.Parallel()
	const n = 60
	project := prepared(t, world.main)
	var folders []*folder
	var runs sync.WaitGroup
	for _, owner := range []string{"one", "two"} {
		f := newFolder(t, world.main, owner, many(project, n, "c")+strings.ReplaceAll(many(project, n, owner), "many", "own"))
		folders = append(folders, f)
		runs.Go(func() {
			cmd := f.command(t.Context(), "apply", "-auto-approve")
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Run(); err != nil && !strings.Contains(said.String(), "exists already") {
				t.Error(err, said.String())
			}
		})
	}
	runs.Wait()
	held := map[string]int{}
	for _, f := range folders {
		for _, thing := range f.state() {
			if thing.values["uid"] != nil {
				held[thing.id]++
			}
		}
	}
	require.Len(t, held, 3*n, "each claim is somebody's")
	for id, holders := range held {
		require.Equal(t, 1, holders, id)
	}
	require.Len(t, claims(t, world.main, project), 3*n)
	for _, f := range folders {
		f.destroy()
	}
	require.Empty(t, claims(t, world.main, project))
}

func TestApplyOf500ClaimsWaitsForTheRateLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	const n = 500
	s, err := serve("slow", "--rate-limit-writes=5", "--rate-limit-reads=20")
	require.NoError(t, err)
	defer s.stop()
	project := prepared(t, s)
	f := newFolder(t, s, "crowd", many(project, n, "c"))
	log := filepath.Join(f.dir, "log")
	f.env = append(f.env, "TF_LOG_PROVIDER=DEBUG", "TF_LOG_PATH="+log)
	began := time.Now()
	f.apply("-parallelism=40")
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(text), "status=429", "the server had too many, and was waited for")
	t.Logf("apply of %d claims at 5 writes a second: %s", n, time.Since(began).Round(time.Second))
	began = time.Now()
	f.empty()
	t.Logf("plan: %s", time.Since(began).Round(time.Second))
	require.Len(t, claims(t, s, project), n)
	began = time.Now()
	f.destroy()
	t.Logf("destroy: %s", time.Since(began).Round(time.Second))
	require.Empty(t, claims(t, s, project))
}
