package procstat_test

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/procstat"
)

// The process tree of this test's child must contain only the child. The tree of this test must contain both.
func TestTreeIncludesChildProcesses(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "cat")
	in, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	before, err := procstat.ReadTimes()
	require.NoError(t, err)
	parent, there := before.Parent(child.Process.Pid)
	require.True(t, there)
	require.Equal(t, os.Getpid(), parent)
	used := func() time.Duration {
		d, err := procstat.Self()
		require.NoError(t, err)
		return d
	}
	const some = 50 * time.Millisecond
	polls := 0
	for from := used(); used() < from+some; polls++ { // uses processor time
		runtime.Gosched()
	}
	require.Positive(t, polls)
	after, err := procstat.ReadTimes()
	require.NoError(t, err)
	own, there := after.Own(parent)
	require.True(t, there)
	was, _ := before.Own(parent)
	const tick = 10 * time.Millisecond // the kernel rounds user time and system time down, each separately
	require.GreaterOrEqual(t, own, was+some-2*tick)
	require.GreaterOrEqual(t, after.Tree(parent), before.Tree(parent)+some-2*tick)
	require.Less(t, after.Tree(child.Process.Pid), some, "it has waited")
	require.NoError(t, in.Close())
	require.NoError(t, child.Wait())
	later, err := procstat.ReadTimes()
	require.NoError(t, err)
	_, there = later.Own(child.Process.Pid)
	require.False(t, there, "it is gone")
	_, there = later.Parent(child.Process.Pid)
	require.False(t, there)
}

func TestForgetResetsThePeakMemory(t *testing.T) {
	t.Parallel()
	const much = 64 << 20
	big, err := syscall.Mmap(-1, 0, much, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	for i := 0; i < len(big); i += os.Getpagesize() {
		big[i] = 1
	}
	now, _, err := procstat.Memory(os.Getpid())
	require.NoError(t, err)
	require.Greater(t, now, int64(much))
	require.NoError(t, syscall.Munmap(big))
	then, peak, err := procstat.Memory(os.Getpid())
	require.NoError(t, err)
	require.Greater(t, peak, int64(much))
	require.Less(t, then, peak-much/2)
	require.NoError(t, procstat.Forget(os.Getpid()))
	_, peak, err = procstat.Memory(os.Getpid())
	require.NoError(t, err)
	require.Less(t, peak, now-much/2)
	_, _, err = procstat.Memory(math.MaxInt32)
	require.Error(t, err, "there is no such process")
}

func TestTooManyConnectionsForTheFileLimitAreRefused(t *testing.T) {
	t.Parallel()
	require.NoError(t, procstat.EnoughFiles(1, 2, "ask for fewer"))
	require.ErrorContains(t, procstat.EnoughFiles(2e9, 2, "ask for fewer"), "2000000000 connections need 2000000002 open files")
}
