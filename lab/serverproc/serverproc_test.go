package serverproc_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/serverproc"
)

func TestServerStartsPrintsItsAddressAndStops(t *testing.T) {
	t.Parallel()
	o := playing("serves")
	o.Args, o.Env, o.Dir = []string{"--auth=keys"}, append(o.Env, "SERVERPROC_FOR=this test"), "/"
	s := start(t, o)
	require.Equal(t, "127.0.0.1:4711", s.Addr())
	key, err := s.AdminKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, "carve_0_first", key)
	group, err := syscall.Getpgid(s.Pid())
	require.NoError(t, err)
	require.Equal(t, s.Pid(), group, "Ctrl-C is not for it")
	require.NoError(t, s.Stop())
	require.Equal(t, greeting, s.Stdout())
	require.Equal(t, "serving with --listen=127.0.0.1:0 --auth=keys for this test in / <nil>\nending\n", s.Log())
	require.NoError(t, s.Stop(), "twice is once")
	require.NoError(t, s.Wait())
	require.ErrorIs(t, syscall.Kill(s.Pid(), 0), syscall.ESRCH)
}

func TestServerThatDoesNotStartReturnsItsLog(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, o serverproc.Options) *serverproc.ExitError {
		t.Helper()
		_, err := serverproc.Start(t.Context(), o)
		var e *serverproc.ExitError
		require.ErrorAs(t, err, &e)
		require.Equal(t, 3, e.State.ExitCode())
		require.ErrorContains(t, err, "exit status 3; its log ends:\nreason 88\n")
		require.ErrorContains(t, err, "\nreason 99")
		return e
	}
	t.Run("OfALogInMemory", func(t *testing.T) {
		t.Parallel()
		require.Contains(t, refused(t, playing("refuses")).Log, "reason 0\n", "all of it")
	})
	t.Run("OfALogInAFile", func(t *testing.T) {
		t.Parallel()
		o := playing("refuses")
		var err error
		o.Log, err = os.Create(filepath.Join(t.TempDir(), "server.log"))
		require.NoError(t, err)
		defer o.Log.Close()
		refused(t, o)
	})
	t.Run("WithoutAnError", func(t *testing.T) {
		t.Parallel()
		_, err := serverproc.Start(t.Context(), playing("ends"))
		require.ErrorContains(t, err, "it ended, with success")
	})
	t.Run("WithoutAProgram", func(t *testing.T) {
		t.Parallel()
		_, err := serverproc.Start(t.Context(), serverproc.Options{Program: filepath.Join(t.TempDir(), "server")})
		require.ErrorIs(t, err, os.ErrNotExist)
	})
}

func TestSilentServerIsStoppedWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	o := playing("is silent")
	o.Log = write
	failed := make(chan error, 1)
	go func() {
		_, err := serverproc.Start(ctx, o)
		failed <- err
	}()
	log := bufio.NewReader(read)
	line, err := log.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "still thinking\n", line)
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	require.NoError(t, write.Close())
	_, err = log.ReadByte()
	require.ErrorIs(t, err, io.EOF, "it is gone")
}

func TestMissingAdminKeyIsAnError(t *testing.T) {
	t.Parallel()
	t.Run("WhenTheServerEnds", func(t *testing.T) {
		t.Parallel()
		_, err := start(t, playing("has no key")).AdminKey(t.Context())
		require.ErrorContains(t, err, "it ended, with success")
	})
	t.Run("WhenTheContextEnds", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := start(t, playing("has no key, and stays"))
		_, err := s.AdminKey(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, s.Stop(), "it went on")
	})
}

func TestStopKillsAServerThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	o := playing("disobeys")
	o.Limit = time.Millisecond
	s := start(t, o)
	err := s.Stop()
	require.ErrorIs(t, err, serverproc.ErrKilled)
	require.ErrorContains(t, err, "and was killed, after 1ms\nsignal: killed")
	require.ErrorIs(t, syscall.Kill(s.Pid(), 0), syscall.ESRCH)
}

func TestStopReturnsTheServersFailure(t *testing.T) {
	t.Parallel()
	err := start(t, playing("breaks")).Stop()
	require.ErrorContains(t, err, "exit status 4; its log ends:\ncould not end")
}

func TestMuchOutputDoesNotBlockTheServer(t *testing.T) {
	t.Parallel()
	s := start(t, playing("talks"))
	require.NoError(t, s.Stop())
	require.Equal(t, "said all\n", s.Log())
}

func TestDataDirectoryIsRemovedUnlessKept(t *testing.T) {
	t.Parallel()
	o := playing("serves")
	o.Data = filepath.Join(t.TempDir(), "data")
	left := filepath.Join(o.Data, "left")
	leave := func() {
		require.NoError(t, os.MkdirAll(o.Data, 0o700))
		require.NoError(t, os.WriteFile(left, nil, 0o600))
	}
	for how, end := range map[string]func(*serverproc.Server){
		"Stop": func(s *serverproc.Server) { require.NoError(t, s.Stop()) },
		"Kill": (*serverproc.Server).Kill,
	} {
		leave()
		s := start(t, o)
		require.NoFileExists(t, left, "of another run")
		leave()
		end(s)
		require.NoDirExists(t, o.Data, how)
		require.Contains(t, s.Log(), "--data-dir="+o.Data)
	}
}

// When its parent dies, the server must die too. Its log is a pipe, which ends when no process can write to it any more.
func TestServerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	saying, stdout, err := os.Pipe()
	require.NoError(t, err)
	defer saying.Close()
	logging, stderr, err := os.Pipe()
	require.NoError(t, err)
	defer logging.Close()
	harness := exec.Command(os.Args[0])
	harness.Env, harness.Stdout, harness.Stderr = []string{role + "=starts one"}, stdout, stderr
	p, err := serverproc.Spawn(harness, time.Minute)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	require.NoError(t, errors.Join(stdout.Close(), stderr.Close()))
	said, err := bufio.NewReader(saying).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started true <nil>\n", said)
	p.Kill()
	log, err := io.ReadAll(logging)
	require.NoError(t, err)
	require.NotContains(t, string(log), "ending")
}
