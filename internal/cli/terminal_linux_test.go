package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/carve-ipam/carve/internal/cli/session"
)

// opened keeps terminals open until the tests end. If a read is abandoned, it restores the mode of the terminal when it ends. It uses the file
// descriptor for that, which must not belong to another file by that time.
var opened sync.Map

// terminal opens a pseudo terminal. person is the user's side, and program is the standard input of a program.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	fd := int(person.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	opened.Store(program, person)
	return person, program
}

// echoes reports whether a terminal shows typed characters.
func echoes(f *os.File) bool {
	state, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil && state.Lflag&unix.ECHO != 0
}

// silence waits until a terminal does not echo.
func silence(ctx context.Context, f *os.File) {
	for echoes(f) && ctx.Err() == nil {
		runtime.Gosched()
	}
}

func TestSecretPromptDisablesTheEcho(t *testing.T) {
	t.Parallel()
	person, program := terminal(t)
	require.True(t, echoes(program))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a limit, so that a test does not hang for ever
	defer cancel()
	var out bytes.Buffer
	ask := session.TerminalSecret(ctx, program, &out)
	require.NotNil(t, ask)

	// A terminal echoes input that arrives before the program's prompt. The test therefore waits until the echo is off before it types.
	go func() {
		silence(ctx, program)
		_, _ = person.WriteString(apiKey + "\n")
	}()
	text, err := ask("API key: ")
	require.NoError(t, err)
	require.Equal(t, apiKey, string(text))
	require.Equal(t, "API key: \n", out.String())
	require.True(t, echoes(program), "the terminal is as it was")

	// The test writes a mark and reads everything that the terminal shows up to this mark.
	_, err = program.WriteString("done\n")
	require.NoError(t, err)
	var shown strings.Builder
	for !strings.Contains(shown.String(), "done") {
		b := make([]byte, 1024)
		n, err := person.Read(b)
		require.NoError(t, err)
		shown.Write(b[:n])
	}
	require.NotContains(t, shown.String(), keySecret)
}

func TestInterruptedSecretPromptRestoresTheEcho(t *testing.T) {
	t.Parallel()
	_, program := terminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		silence(ctx, program)
		interrupt()
	}()
	_, err := session.TerminalSecret(ctx, program, &bytes.Buffer{})("API key: ")
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, echoes(program))
}

func TestStandardInputFromAFileHasNoSecretPrompt(t *testing.T) {
	t.Parallel()
	f, err := os.Open("root.go")
	require.NoError(t, err)
	defer f.Close()
	require.Nil(t, session.TerminalSecret(t.Context(), f, &bytes.Buffer{}))
}
