package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func contextSet(p *session.Program) *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:   "set NAME [--server URL] [--project PROJECT] [--api-key-file FILE|-]",
		Short: "Create a context, or change its given values",
		Long: `Stores a server, a project and a credential under a name. Values that are not given stay; an empty value removes one.
The first context becomes the current one.

The credential is an API key or a token of an OpenID Connect issuer. ipamctl reads it from a file, or with - from standard
input; on a terminal it asks for it without echo. It is never an argument, because other users can see command lines.
ipamctl sends it only to the server of its context, so a new server needs a new credential.`,
		Example: `  ipamctl context set prod --server https://ipam.example.com --project team-a --api-key-file -
  ipamctl key create laptop --role consumer -q | ipamctl context set prod --api-key-file -`,
		Args:              verbs.Names("context", 1, 1),
		ValidArgsFunction: completeContexts(p),
	}
	cmd.RunE = p.Verb(func(_ context.Context, args []string) error { return setContext(p, cmd, args[0], keyFile) })
	cmd.Flags().StringVar(&keyFile, "api-key-file", "", "read the credential from this `FILE`, or with - from standard input or the terminal")
	return cmd
}

func setContext(p *session.Program, cmd *cobra.Command, name, keyFile string) error {
	given := cmd.Flags().Changed
	if p.Flags.Context != "" {
		return exit.Usagef("give the name of the context as the argument only; --context is for other verbs")
	}
	change, err := changeOf(p, given, keyFile)
	if err != nil {
		return err
	}
	if err := p.ChangeContexts(func(c *session.Contexts) error {
		s := c.Contexts[name]
		before := s
		change(&s)
		if s.Server == "" && s.APIKey != "" {
			return exit.Usagef("a credential needs a server: give its --server")
		}
		if before.APIKey != "" && !given("api-key-file") && !session.SameServer(s.Server, before.Server) {
			return exit.Usagef("the credential of context %s is for %s only: give one for the new server with --api-key-file FILE, or remove it with --api-key-file ''",
				name, session.Redacted(before.Server))
		}
		c.Contexts[name] = s
		if c.Current == "" {
			c.Current = name
		}
		return nil
	}); err != nil {
		return err
	}
	return showContext(p, name)
}

// changeOf checks the flags for `context set`. It runs before the command writes the file or asks for a secret.
func changeOf(p *session.Program, given func(flag string) bool, keyFile string) (func(s *session.Setting), error) {
	if p.Flags.Server != "" {
		if _, err := session.ParseServer(p.Flags.Server); err != nil {
			return nil, err
		}
	}
	if p.Flags.Project != "" {
		if err := session.CheckName("project", p.Flags.Project); err != nil {
			return nil, err
		}
	}
	caFile := p.Flags.CaFile
	if caFile != "" {
		if _, err := session.HTTPClient(caFile); err != nil {
			return nil, err
		}
		whole, err := filepath.Abs(caFile) // an absolute path, because later commands run in other directories
		if err != nil {
			return nil, exit.Usagef("cannot find the file of CA certificates: %v", err)
		}
		caFile = whole
	}
	var key session.Token
	if keyFile != "" {
		var err error
		if key, err = p.ReadToken(keyFile); err != nil {
			return nil, err
		}
	}
	return func(s *session.Setting) {
		if given("server") {
			s.Server = p.Flags.Server
		}
		if given("project") {
			s.Project = p.Flags.Project
		}
		if given("ca-file") {
			s.CAFile = caFile
		}
		if given("api-key-file") {
			s.APIKey = key
		}
	}, nil
}
