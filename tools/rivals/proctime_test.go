package main

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"
)

// The family of a child of this test is this test with all of its children.
func TestFamilyTimeIsThatOfTheParent(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "cat")
	in, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	before, err := familyTime(child.Process.Pid)
	require.NoError(t, err)
	self, err := procfs.Self()
	require.NoError(t, err)
	used := func() time.Duration {
		s, err := self.Stat()
		require.NoError(t, err)
		return ownTime(s)
	}
	const some = 5 * tick
	polls := 0
	for from := used(); used() < from+some; polls++ { // which uses time
		runtime.Gosched()
	}
	require.Positive(t, polls)
	after, err := familyTime(child.Process.Pid)
	require.NoError(t, err)
	require.GreaterOrEqual(t, after, before+some)
	require.NoError(t, in.Close())
	require.NoError(t, child.Wait())
	_, err = familyTime(child.Process.Pid)
	require.Error(t, err, "it is gone")
}
