package skew

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reader is a running program that was built with the overlay. It reports its time on request.
type reader struct {
	in  io.Writer
	out *bufio.Reader
}

func start(t *testing.T, program string, environ ...string) reader {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = environ
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return reader{in, bufio.NewReader(out)}
}

// off reads the program's clock. Each way to read the time of day must have the given error, and durations must have none.
func (r reader) off(t *testing.T, ahead time.Duration) {
	t.Helper()
	before := time.Now().Round(0)
	_, err := fmt.Fprintln(r.in, "now")
	require.NoError(t, err)
	line, err := r.out.ReadString('\n')
	require.NoError(t, err)
	after := time.Now().Round(0)
	var now, utc, rang, passed, left int64
	_, err = fmt.Sscan(line, &now, &utc, &rang, &passed, &left)
	require.NoError(t, err, line)
	for _, read := range []int64{now, utc, rang} {
		at := time.Unix(0, read).Add(-ahead)
		require.False(t, at.Before(before) || at.After(after), "%v is not between %v and %v", at, before, after)
	}
	require.Positive(t, passed)
	require.Less(t, time.Duration(passed), 10*time.Minute, "what has passed since it began is no time of day")
	require.Less(t, time.Duration(-left), 10*time.Minute)
	require.NotContains(t, line, "clock", "the variable is for the clock alone")
}

func TestProgramWithTheOverlayFollowsItsClockFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sources, err := Own(t.Context())
	require.NoError(t, err)
	overlay, err := sources.Write(filepath.Join(dir, "overlay"))
	require.NoError(t, err)
	program := filepath.Join(dir, "reads")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", program, "./testdata/reads").CombinedOutput()
	require.NoError(t, err, "%s", out)

	clock, err := NewClock(filepath.Join(dir, "clock"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, clock.Close()) })
	clock.Set(20 * time.Minute)
	off, right := start(t, program, clock.Environ()), start(t, program)
	off.off(t, 20*time.Minute)
	right.off(t, 0)
	for _, ahead := range []time.Duration{-20 * time.Minute, 0, 1500 * time.Millisecond, -1500 * time.Millisecond, -time.Nanosecond} {
		clock.Set(ahead) // the clock steps while the program runs
		off.off(t, ahead)
		require.Equal(t, ahead, clock.Ahead())
	}
	lost := exec.CommandContext(t.Context(), program)
	lost.Env = []string{Variable + "=" + filepath.Join(dir, "nowhere")}
	said, err := lost.CombinedOutput()
	require.Error(t, err, "a clock that cannot be read is not a right one")
	require.Contains(t, string(said), "nowhere")
}

func TestUnknownTimePackageIsRefused(t *testing.T) {
	t.Parallel()
	for title, sources := range map[string]map[string]string{
		"AnotherNow":              {"time.go": "package time\n\nfunc Now() Time {\n\treturn read(runtimeNow())\n}\n"},
		"AnotherReaderOfTheClock": {"time.go": was + "}\n", "zoneinfo_read.go": "runtimeNow()", "zoneinfo_plan9.go": "runtimeNow()", "other.go": "x := runtimeNow()"},
		"TheOldNameIsUsedAgain":   {"time.go": was + "\tsec, nsec, mono = now()\n", "zoneinfo_read.go": "runtimeNow()", "zoneinfo_plan9.go": "runtimeNow()"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(root, "src", "time"), 0o700))
			for name, text := range sources {
				require.NoError(t, os.WriteFile(filepath.Join(root, "src", "time", name), []byte(text), 0o600))
			}
			_, err := Sources(root)
			require.Error(t, err)
		})
	}
}
