package client_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/follow"
	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// role is the environment variable that makes this test binary run as a server. Its value has the server's flags.
const role = "CARVE_CLIENT_TEST_SERVER"

// play runs the server until the process is killed or its parent process ends.
func play(flags []string) int {
	config, _, err := app.ParseConfig(flags, nil)
	if err == nil {
		var a *app.App
		if a, err = app.Start(context.Background(), config, os.Stderr); err == nil {
			a.Greet(os.Stdout)
			_, _ = io.Copy(io.Discard, os.Stdin)
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// spawn starts a server in its own process. kill ends the process without a shutdown, like a power failure.
func spawn(t *testing.T, dsn, listen string) (address string, kill func()) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	server := exec.CommandContext(t.Context(), program)
	flags := []string{"--auth=dev", "--listen=" + listen, "--database-url=" + dsn, "--max-connections=4", "--log-level=error"}
	server.Env = append(os.Environ(), role+"="+strings.Join(flags, " "))
	server.Stderr = t.Output()
	_, err = server.StdinPipe() // the pipe stays open until this process ends
	require.NoError(t, err)
	said, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	kill = sync.OnceFunc(func() { _ = server.Process.Kill(); _ = server.Wait() })
	t.Cleanup(kill)
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	address, listening := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	require.True(t, listening, line)
	return address, kill
}

// A server is killed and restarted. Meanwhile another server changes the followed objects. The watch continues at the same point.
func TestWatchContinuesAfterAServerRestart(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	direct, _ := serve(t, dsn)
	other, err := client.New(direct)
	require.NoError(t, err)
	_, err = other.CreateProject(t.Context(), client.ProjectCreate{Metadata: client.CreateMetadata{Name: "team-a"}})
	require.NoError(t, err)
	_, err = other.CreatePool(t.Context(), "team-a", client.IPPoolCreate{
		Metadata: client.CreateMetadata{Name: "prod"}, Spec: client.IPPoolSpec{CIDR: "10.20.0.0/16"},
	})
	require.NoError(t, err)
	address, kill := spawn(t, dsn, again())
	followed, err := client.New("http://"+address, client.WithRetry(quick()))
	require.NoError(t, err)

	source := follow.Claims(followed, "team-a", "")
	source.Wait = time.Second
	told, failed := make(chan follow.Event[client.IPClaim], 4096), make(chan error, 4096)
	var listed atomic.Int32
	cache := follow.NewCache(source, func(e follow.Event[client.IPClaim]) {
		if e.Type == follow.Synced {
			listed.Add(1)
		}
		told <- e
	}, func(err error) { failed <- err })
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := cache.Run(ctx); ctx.Err() == nil {
			t.Error("the watch has ended:", err)
		}
	})
	defer running.Wait()
	defer end()
	<-cache.Synced()
	for round := range 2 {
		name := fmt.Sprintf("web-%d", round)
		_, err = other.Claim(t.Context(), "team-a", name, fromProd(28)) // the watch may have yielded it before the server was killed
		require.NoError(t, err)
		kill()
		require.Error(t, <-failed)
		_, err = other.Claim(t.Context(), "team-a", name+"-meanwhile", fromProd(28))
		require.NoError(t, err)
		require.NoError(t, other.Release(t.Context(), "team-a", name))
		_, kill = spawn(t, dsn, address)
		there := all(t, other.Claims(t.Context(), "team-a"))
		require.Len(t, there, round+1)
		until(t, told, func() bool {
			_, ended := cache.Get(name)
			return !ended && len(cache.List()) == len(there)
		})
		require.Equal(t, there, cache.List())
		for len(failed) > 0 {
			<-failed
		}
	}
	require.EqualValues(t, 1, listed.Load(), "nothing was listed again")
}
