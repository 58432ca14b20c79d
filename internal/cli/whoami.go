package cli

import (
	"context"
	"encoding/json"

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
	caller := show.ViewOf("caller", `
		SUBJECT: subject
		METHOD: method
		PLATFORM ADMIN: platformAdmin, or no
		SERVER: server, wide
		CONTEXT: context, wide
		CREDENTIAL: credential, wide`, show.Cells[T]{
		"server":     func(T) string { return s.Server },
		"context":    func(T) string { return s.At.Context },
		"credential": func(T) string { return s.At.Credential() },
	})
	caller.Name = show.CellOf(show.Field[T]("subject"))
	tabular := s.Tabular()
	if err := show.One(s.Printer, caller, doc); err != nil || !tabular {
		return err
	}
	who, err := show.Read[T](doc)
	if err != nil {
		return err
	}
	if len(who.Roles) == 0 {
		s.Remark("no role in any project")
		return nil
	}
	return s.Write(append([]byte("\n"), show.Table(s.Printer, show.Columns[client.RoleInProject](`
		PROJECT: project
		ROLE: role`, nil), who.Roles)...))
}
