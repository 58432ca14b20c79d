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

// Environment are a command's connections to the outside.
type Environment struct {
	In       io.Reader
	Out, Err io.Writer
	// Env looks up an environment variable, as os.LookupEnv does.
	Env func(name string) (string, bool)
	// Version is the version of this build, for `ipamctl version` and the User-Agent; Commit is its commit, if known.
	Version, Commit string
	// Database gives operator verbs access to a database; [RealDatabase] outside tests.
	Database operate.Database
	// Secret reads a secret from the terminal without echo; nil without a terminal.
	Secret func(prompt string) ([]byte, error)
	// Width is the number of columns of the output's terminal, and Watched means that notes go to a terminal; 0 and false mean none.
	Width   int
	Watched bool
	// Now returns the time of day; nil is the machine's clock.
	Now func() time.Time
	// Pause waits between retries of a request, or until ctx ends; nil is a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Run runs one command and returns its exit code. ctx ends it early, as an interrupt does.
func Run(ctx context.Context, args []string, at Environment) int {
	if at.Pause == nil {
		at.Pause = wait
	}
	if at.Now == nil {
		at.Now = time.Now
	}
	p := &session.Program{
		Printer: &show.Printer{To: at.Out, Aside: at.Err}, In: at.In, Lookup: at.Env, Version: at.Version, Commit: at.Commit,
		Secret: at.Secret, Clock: at.Now, Pause: at.Pause,
	}
	p.Hide = p.Hidden
	p.Width, p.Watched = at.Width, at.Watched
	p.Colour = at.Width > 0 && p.Env("NO_COLOR") == "" && p.Env("TERM") != "dumb"
	root := root(p, at.Database)
	if args == nil {
		args = []string{} // for cobra, nil means the arguments of the process
	}
	root.SetArgs(slashed(root, args))
	root.SetIn(at.In)
	root.SetOut(at.Out)
	root.SetErr(at.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return finish(p, cmd, err)
}

// finish reports an error, unless it was reported before, and returns the exit code.
func finish(p *session.Program, cmd *cobra.Command, err error) int {
	p.ProgressEnds()
	if err == nil {
		return exit.OK
	}
	if said, ok := errors.AsType[exit.Verdict](err); ok {
		return int(said)
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

// wait waits for a timer or the end of the context.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
