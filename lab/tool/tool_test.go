package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExitCodeFollowsFromTheError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		code int
		told string
	}{
		"NoError":      {nil, 0, ""},
		"AskedForHelp": {fmt.Errorf("flags: %w", flag.ErrHelp), 0, ""},
		"AnError":      {errors.New("no server"), 1, "try: no server\n"},
		"ATimeout":     {context.DeadlineExceeded, 1, "try: context deadline exceeded\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told strings.Builder
			code := perform("lab", []Command{{Name: "other"}, {Name: "try", Run: func(_ context.Context, args []string) error {
				require.Equal(t, []string{"-a"}, args)
				return tc.err
			}}}, []string{"try", "-a"}, &told)
			require.Equal(t, tc.code, code)
			require.Equal(t, tc.told, told.String())
		})
	}
}

func TestMissingCommandPrintsTheCommands(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"nothing"}, {"-help"}} {
		var told strings.Builder
		require.Equal(t, 2, perform("lab", []Command{{Name: "try", About: "does it work?"}}, args, &told))
		require.Contains(t, told.String(), "try        does it work?")
	}
}

func TestSignalsEndTheContext(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var told strings.Builder
		code := perform("lab", []Command{{Name: "try", Run: func(ctx context.Context, _ []string) error {
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}}}, []string{"try"}, &told)
		require.Equal(t, 1, code)
		require.Equal(t, "try: context canceled\n", told.String())
	}
}

func TestTempDirIsReadableByEveryUser(t *testing.T) {
	t.Parallel()
	dir, err := TempDir("carve-tool-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.Remove(dir)) })
	about, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), about.Mode().Perm())
}
