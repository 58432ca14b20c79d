package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "Show who the server takes you for, and your roles",
		Long: `Asks the server who is asking: the subject, as it is written into what you make and into the audit trail, and the role in
each project. With -o wide also where this command line went, and with which credential.`,
		Args:              names("", 0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, _ []string) error {
			s, err := p.session()
			if err != nil {
				return err
			}
			a, err := s.ask(ctx, get("whoami"))
			if err != nil {
				return err
			}
			return s.showCaller(a.body)
		}),
	}
}

// showCaller prints who is asking, and below it the roles.
func (s *session) showCaller(doc json.RawMessage) error {
	type T = client.Whoami
	caller := view[T]{
		kind: "caller",
		name: func(t T) string { return t.Subject },
		columns: []column[T]{
			{title: "SUBJECT", cell: func(t T) string { return t.Subject }},
			{title: "METHOD", cell: func(t T) string { return t.Method }},
			{title: "PLATFORM ADMIN", cell: func(t T) string { return yesNo(t.PlatformAdmin) }},
			{title: "SERVER", wide: true, cell: func(T) string { return s.server }},
			{title: "CONTEXT", wide: true, cell: func(T) string { return s.at.context }},
			{title: "CREDENTIAL", wide: true, cell: func(T) string { return s.at.credential() }},
		},
	}
	tabular := !s.flags.quiet && (s.flags.output == formatTable || s.flags.output == formatWide)
	if err := one(s.program, caller, doc); err != nil || !tabular {
		return err
	}
	var who client.Whoami
	if err := json.Unmarshal(doc, &who); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	if len(who.Roles) == 0 {
		s.remark("no role in any project")
		return nil
	}
	type R = client.RoleInProject
	return s.write(append([]byte("\n"), tableOf(s.program, []column[R]{
		{title: "PROJECT", cell: func(r R) string { return r.Project }},
		{title: "ROLE", cell: func(r R) string { return string(r.Role) }},
	}, who.Roles)...))
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
