package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Environment has a command's inputs and outputs.
type Environment struct {
	In       io.Reader
	Out, Err io.Writer
	// Env looks up an environment variable in the same way as os.LookupEnv.
	Env func(name string) (string, bool)
	// Version is this build's version, which `ipamctl version` and the User-Agent show. Commit is its commit, if known.
	Version, Commit string
	// Database gives the commands for operators access to a database. Outside tests it is [RealDatabase].
	Database operate.Database
	// Secret reads a secret from the terminal without echo. Without a terminal, it is nil.
	Secret func(prompt string) ([]byte, error)
	// Width is the terminal's width in columns, or 0 if the output is not a terminal. Watched is true if notes go to a terminal.
	Width   int
	Watched bool
	// Now returns the current time. If it is nil, the command uses the machine's clock.
	Now func() time.Time
	// Pause waits between retries, or until ctx ends. If it is nil, the command uses a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Run runs one command and returns its exit code. If ctx ends, for example on an interrupt, the command stops early.
func Run(ctx context.Context, args []string, at Environment) int {
	if at.Pause == nil {
		at.Pause = wait
	}
	if at.Now == nil {
		at.Now = time.Now
	}
	p := &session.Program{
		Printer: &show.Printer{To: at.Out, Aside: at.Err, Width: at.Width, Watched: at.Watched}, In: at.In, Lookup: at.Env, Version: at.Version, Commit: at.Commit,
		Secret: at.Secret, Clock: at.Now, Pause: at.Pause,
	}
	p.Hide = p.Hidden
	p.Colour = at.Width > 0 && p.Env("NO_COLOR") == "" && p.Env("TERM") != "dumb"
	root := root(p, at.Database)
	if args == nil {
		args = []string{} // cobra would replace nil with the process's arguments
	}
	root.SetArgs(slashed(root, args))
	root.SetIn(at.In)
	root.SetOut(at.Out)
	root.SetErr(at.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return finish(p, cmd, err)
}

// finish returns the exit code. It also prints the error, unless the command has already printed it.
func finish(p *session.Program, cmd *cobra.Command, err error) int {
	p.ProgressEnds()
	if err == nil {
		return exit.OK
	}
	if verdict, ok := errors.AsType[exit.Verdict](err); ok {
		return int(verdict)
	}
	code := exit.CodeOf(err)
	if !p.Started {
		code = exit.Usage
	}
	p.Note("error: %s", err)
	if code == exit.Usage {
		p.Note("See '%s --help'.", cmd.CommandPath())
	}
	return code
}

// wait waits for the duration d, or until the context ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
