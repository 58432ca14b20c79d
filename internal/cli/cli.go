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

// Surroundings are what a command line may touch outside itself.
type Surroundings struct {
	In       io.Reader
	Out, Err io.Writer
	// Env looks up an environment variable, as os.LookupEnv does.
	Env func(name string) (string, bool)
	// Version of this build, for `ipamctl version` and the User-Agent, and the commit it was built from, where that is known.
	Version, Commit string
	// Database is how operator verbs reach a database; [RealDatabase] outside of tests.
	Database operate.Database
	// Secret asks the person at the terminal for a secret, without an echo; nil where nobody is there to be asked.
	Secret func(prompt string) ([]byte, error)
	// Width is how many columns the terminal has to which answers go, and Watched says that notes go to one; 0 and false are none.
	Width   int
	Watched bool
	// Now is the time of day; nil is the clock of the machine.
	Now func() time.Time
	// Pause waits between repeats of a request, or until ctx ends; nil is a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Run carries out one command line and answers its exit code. ctx ends it early, as an interrupt does.
func Run(ctx context.Context, args []string, at Surroundings) int {
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
		args = []string{} // cobra takes nil for "the arguments of the process"
	}
	root.SetArgs(slashed(root, args))
	root.SetIn(at.In)
	root.SetOut(at.Out)
	root.SetErr(at.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return finish(p, cmd, err)
}

// finish says what went wrong, once, and answers the exit code.
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

// wait is a timer that gives way to the context.
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
