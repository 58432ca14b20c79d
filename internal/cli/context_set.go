package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"
)

// contextSetting are the flags of `context set` that are not those of every verb.
type contextSetting struct{ keyFile string }

func (p *program) contextSet() *cobra.Command {
	var f contextSetting
	cmd := &cobra.Command{
		Use:   "set NAME [--server URL] [--project PROJECT] [--api-key-file FILE|-]",
		Short: "Make a context, or change what is given of it",
		Long: `Keeps under a name where the server is, which project is meant and with which credential. What is not given stays as it
is; an empty value takes it away. The first context becomes the current one.

The credential, an API key or a token of an OpenID Connect issuer, is read from a file, or with - from standard input; on a
terminal it is asked for and not shown. It is never an argument: others can see command lines. It is sent to the server of
its context alone, and is dropped when the context gets another server.`,
		Example: `  ipamctl context set prod --server https://ipam.example.com --project team-a --api-key-file -
  ipamctl key create laptop --role consumer -q | ipamctl context set prod --api-key-file -`,
		Args:              names("context", 1, 1),
		ValidArgsFunction: p.completeContexts,
	}
	cmd.RunE = p.verb(func(_ context.Context, args []string) error { return p.setContext(cmd, args[0], f) })
	cmd.Flags().StringVar(&f.keyFile, "api-key-file", "", "read the credential from this `FILE`, or with - from standard input or the terminal")
	return cmd
}

func (p *program) setContext(cmd *cobra.Command, name string, f contextSetting) error {
	given := func(flag string) bool { return cmd.Flags().Changed(flag) }
	if p.flags.context != "" {
		return usagef("name the context once, as an argument: --context is for the other verbs")
	}
	change, err := p.changeOf(given, f)
	if err != nil {
		return err
	}
	if err := p.changeContexts(func(c *contexts) error {
		s := c.Contexts[name]
		before := s
		change(&s)
		if s.Server == "" && s.APIKey != "" {
			return usagef("a credential needs the --server that it is for")
		}
		if before.APIKey != "" && !given("api-key-file") && !same(s.Server, before.Server) {
			s.APIKey = ""
			p.note("the credential was for another server, %s, and is dropped; give one for this server with --api-key-file", redacted(before.Server))
		}
		c.Contexts[name] = s
		if c.Current == "" {
			c.Current = name
		}
		return nil
	}); err != nil {
		return err
	}
	return p.showContext(name)
}

// changeOf reads what was given to `context set`, before anything is written or anybody is asked for a secret.
func (p *program) changeOf(given func(flag string) bool, f contextSetting) (func(s *setting), error) {
	if p.flags.server != "" {
		if _, err := parseServer(p.flags.server); err != nil {
			return nil, err
		}
	}
	if p.flags.project != "" {
		if err := checkName("project", p.flags.project); err != nil {
			return nil, err
		}
	}
	caFile := p.flags.caFile
	if caFile != "" {
		if _, err := httpClient(caFile); err != nil {
			return nil, err
		}
		whole, err := filepath.Abs(caFile) // it is read from other directories
		if err != nil {
			return nil, usagef("cannot find the CA's certificates: %v", err)
		}
		caFile = whole
	}
	var key token
	if f.keyFile != "" {
		var err error
		if key, err = p.readToken(f.keyFile); err != nil {
			return nil, err
		}
	}
	return func(s *setting) {
		if given("server") {
			s.Server = p.flags.server
		}
		if given("project") {
			s.Project = p.flags.project
		}
		if given("ca-file") {
			s.CAFile = caFile
		}
		if given("api-key-file") {
			s.APIKey = key
		}
	}, nil
}
