// Package session is one command line while it runs: what it was given, where its requests go and with which credential, and what
// came of them.
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

// DefaultServer is where a server listens that was told nothing else.
const DefaultServer = "http://127.0.0.1:8080"

// globals are the flags of every verb.
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

// Program is one command line while it runs, and what it may touch outside itself.
type Program struct {
	*show.Printer
	In io.Reader
	// lookup finds an environment variable, as os.LookupEnv does.
	Lookup          func(name string) (string, bool)
	Version, Commit string
	// secret asks the person at the terminal for a secret, without an echo; nil where nobody is there to be asked.
	Secret func(prompt string) ([]byte, error)
	Clock  func() time.Time
	Pause  func(ctx context.Context, d time.Duration) error

	Flags   globals
	Hushed  bool  // repeats of requests are not told: there are many requests
	Started bool  // a verb runs: what goes wrong now is no longer the usage
	sending Token // the credential that requests carry; not to be printed
}

// Verb makes a RunE of a function: from here on an error is no longer one of usage, unless it says so.
func (p *Program) Verb(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.Started = true
		return run(cmd.Context(), args)
	}
}

// Env is an environment variable, or empty.
func (p *Program) Env(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// FromEnvironment sets the global flags that have a variable and were not given. The variables of a server and a database
// are read where they are needed: a help text must not show them.
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

// File reads a document from a file, or from standard input for "-".
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

// Read reads a file, or standard input for "-".
func (p *Program) Read(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(p.In)
	}
	return os.ReadFile(path)
}
