package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func whoamiCommand(p *session.Program) *cobra.Command {
	return verbs.Bare(&cobra.Command{
		Use:   "whoami",
		Short: "Show your subject and your roles",
		Long: `Shows the caller as the server sees it: the subject, as objects and the audit trail record it, and the role in each
project. -o wide also shows the server and the credential of this command.`,
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			s, err := p.Session()
			if err != nil {
				return err
			}
			a, err := s.Ask(ctx, session.Get("whoami"))
			if err != nil {
				return err
			}
			return showCaller(s, a.Body)
		}),
	})
}

// showCaller prints the caller, and then the caller's roles.
func showCaller(s *session.Session, doc json.RawMessage) error {
	type T = client.Whoami
	caller := show.View[T]{
		Kind: "caller",
		Name: func(t T) string { return t.Subject },
		Columns: []show.Column[T]{
			{Title: "SUBJECT", Cell: func(t T) string { return t.Subject }},
			{Title: "METHOD", Cell: func(t T) string { return t.Method }},
			{Title: "PLATFORM ADMIN", Cell: func(t T) string { return yesNo(t.PlatformAdmin) }},
			{Title: "SERVER", Wide: true, Cell: func(T) string { return s.Server }},
			{Title: "CONTEXT", Wide: true, Cell: func(T) string { return s.At.Context }},
			{Title: "CREDENTIAL", Wide: true, Cell: func(T) string { return s.At.Credential() }},
		},
	}
	tabular := s.Tabular()
	if err := show.One(s.Printer, caller, doc); err != nil || !tabular {
		return err
	}
	var who client.Whoami
	if err := json.Unmarshal(doc, &who); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	if len(who.Roles) == 0 {
		s.Remark("no role in any project")
		return nil
	}
	type R = client.RoleInProject
	return s.Write(append([]byte("\n"), show.Table(s.Printer, []show.Column[R]{
		{Title: "PROJECT", Cell: func(r R) string { return r.Project }},
		{Title: "ROLE", Cell: func(r R) string { return string(r.Role) }},
	}, who.Roles)...))
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
