// Package session is a running command. It sends the command's requests and reads their results.
package session

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// DefaultServer is the URL for a server that listens at its default address on this machine.
const DefaultServer = "http://127.0.0.1:8080"

// globals has the flags that all commands have.
type globals struct {
	Context      string
	Server       string
	Project      string
	CaFile       string
	ClientCert   string
	ClientKey    string
	InsecureHTTP bool
	Timeout      time.Duration
	RequestID    string
}

// Program is a running command with its inputs, its outputs and its clock.
type Program struct {
	*show.Printer
	In io.Reader
	// Lookup finds an environment variable, as os.LookupEnv does.
	Lookup          func(name string) (string, bool)
	Version, Commit string
	// Secret reads a secret from the terminal without echo. Without a terminal, it is nil.
	Secret func(prompt string) ([]byte, error)
	Clock  func() time.Time
	Pause  func(ctx context.Context, d time.Duration) error

	Flags   globals
	Hushed  bool  // do not print a remark for each retry, because the command sends many requests
	Started bool  // a command runs, so later errors are not usage errors
	sending Token // the credential in requests; it is never printed
}

// Verb returns a cobra RunE function that calls run. An error from run is a usage error only if its exit code is exit.Usage.
func (p *Program) Verb(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.Started = true
		return run(cmd.Context(), args)
	}
}

// VerbIn works like Verb, for a command that works in a project.
func (p *Program) VerbIn(run func(ctx context.Context, s *Session, args []string) error) func(*cobra.Command, []string) error {
	return p.Verb(func(ctx context.Context, args []string) error {
		s, err := p.InProject()
		if err != nil {
			return err
		}
		return run(ctx, s, args)
	})
}

// Env returns an environment variable. If it is not set, Env returns "".
func (p *Program) Env(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// FromEnvironment sets the global flags that the user has not set and that have an environment variable. It does not read the variables for servers
// and databases. Other code reads those variables when it needs them, so that no help text shows their values.
func (p *Program) FromEnvironment(f *pflag.FlagSet) error {
	for flag, variable := range map[string]string{"output": "CARVE_OUTPUT", "timeout": "CARVE_TIMEOUT"} {
		value := p.Env(variable)
		if value == "" || f.Changed(flag) {
			continue
		}
		if err := f.Set(flag, value); err != nil {
			return exit.Usagef("%s=%s: %v", variable, value, err)
		}
	}
	return nil
}

// File reads a document from a file. For "-" it reads standard input.
func (p *Program) File(path string) (json.RawMessage, error) {
	text, err := p.Read(path)
	if err != nil {
		return nil, exit.Usagef("cannot read the file: %v", err)
	}
	doc, err := show.JSONOf(text)
	if err != nil {
		return nil, exit.Usagef("%s: %v", path, err)
	}
	return doc, nil
}

// Read reads a file. For "-" it reads standard input.
func (p *Program) Read(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(p.In)
	}
	return os.ReadFile(path)
}
