package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
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
	Database Database
	// Secret asks the person at the terminal for a secret, without an echo; nil where nobody is there to be asked.
	Secret func(prompt string) ([]byte, error)
	// Now is the time of day; nil is the clock of the machine.
	Now func() time.Time
	// Pause waits between repeats of a request, or until ctx ends; nil is a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// program is one command line while it runs.
type program struct {
	Surroundings
	flags   globals
	started bool  // a verb runs: what goes wrong now is no longer the usage
	sending token // the credential that requests carry; not to be printed
}

// Run carries out one command line and answers its exit code. ctx ends it early, as an interrupt does.
func Run(ctx context.Context, args []string, at Surroundings) int {
	if at.Pause == nil {
		at.Pause = pause
	}
	if at.Now == nil {
		at.Now = time.Now
	}
	p := &program{Surroundings: at}
	root := p.root()
	if args == nil {
		args = []string{} // cobra takes nil for "the arguments of the process"
	}
	root.SetArgs(args)
	root.SetIn(at.In)
	root.SetOut(at.Out)
	root.SetErr(at.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return p.finish(cmd, err)
}

// finish says what went wrong, once, and answers the exit code.
func (p *program) finish(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	if said, ok := errors.AsType[verdict](err); ok {
		return int(said)
	}
	code := exitCodeOf(err)
	if !p.started {
		code = exitUsage
	}
	p.note("error: %s", err)
	if code == exitUsage {
		p.note("See '%s --help'.", cmd.CommandPath())
	}
	return code
}

// verb makes a RunE of a function: from here on an error is no longer one of usage, unless it says so.
func (p *program) verb(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.started = true
		return run(cmd.Context(), args)
	}
}

// pause is a timer that gives way to the context.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
