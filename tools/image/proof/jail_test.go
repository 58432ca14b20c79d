package proof_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/carve-ipam/carve/tools/image/recipe"
)

// jail is the image's unpacked root file system, in which a test runs programs as a cluster would. They run as the image's user, without a
// capability, on a read-only root. It is the programs' own root, so they see only files of the image.
type jail struct{ root string }

func newJail(t *testing.T) jail {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("to change the root directory and the user needs root: run this as root")
	}
	place := -1
	for i, p := range recipe.Platforms {
		if p.OS == runtime.GOOS && p.Arch == runtime.GOARCH {
			place = i
		}
	}
	if place < 0 {
		t.Skipf("there is no image for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	j := jail{root: t.TempDir()}
	openWay(t, j.root)
	for _, f := range files(t, subject.images[place]) {
		at := filepath.Join(j.root, f.Name)
		if strings.HasSuffix(f.Name, "/") {
			require.NoError(t, os.MkdirAll(at, 0o700))
		} else {
			require.NoError(t, os.WriteFile(at, f.content, 0o600))
		}
		require.NoError(t, syscall.Chmod(at, uint32(f.Mode)))
	}
	return j
}

// openWay lets other users enter a directory of the test, two levels below the public directory for temporary files.
func openWay(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
}

// jailVariable makes this program run its first argument, in the root directory that the variable names.
const jailVariable = "CARVE_PROOF_JAIL"

// command returns a command that runs in the jail, with its own environment. It first runs this program in a mount namespace that ends with it.
func (j jail) command(t *testing.T, environ []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append([]string{jailVariable + "=" + j.root}, environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return cmd
}

// run returns the exit code and the output.
func (j jail) run(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := j.command(t, environ, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// notEntered is the exit code if the jail, or the program in it, could not be entered.
const notEntered = 125

// enter replaces this process by the program in its arguments, in the jail. It only returns after an error.
func enter(root string) error {
	runtime.LockOSThread() // the calls below affect the thread, and exec keeps the thread's state
	if err := errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount(root, root, "", unix.MS_BIND, ""),
		unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""),
	); err != nil {
		return fmt.Errorf("mount %s: %w", root, err)
	}
	if err := errors.Join(unix.Chroot(root), unix.Chdir("/")); err != nil {
		return fmt.Errorf("enter %s: %w", root, err)
	}
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
			return fmt.Errorf("capability %d: %w", capability, err)
		}
	}
	if err := errors.Join(
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		syscall.Setgroups(nil), syscall.Setgid(recipe.UID), syscall.Setuid(recipe.UID),
	); err != nil {
		return fmt.Errorf("become %s: %w", recipe.User, err)
	}
	var environ []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, jailVariable+"=") {
			environ = append(environ, variable)
		}
	}
	return fmt.Errorf("run %s: %w", os.Args[1], syscall.Exec(os.Args[1], os.Args[1:], environ))
}
