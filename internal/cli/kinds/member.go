package kinds

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func members(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, In: "members", Short: "Roles of subjects in the project", Arg: verbs.Subject,
		View: show.ViewOf[client.Member]("member", `
			SUBJECT: metadata.name
			ROLE: spec.role`+plain, nil),
		Fields:   []verbs.Field{{Flag: "role", Words: roles, Usage: "role of the member"}},
		ListHelp: "Lists the members of the project with their roles. The list does not contain roles from the server's configuration, and roles\nof API keys.",
		Get:      true,
		Delete: &verbs.Removal{
			Verb: "remove", Done: "removed",
			Long: "Removes the roles of members, on all servers within 5 seconds. Objects that they created stay. You cannot remove the last admin\nof the project 'platform'.",
		},
	}
}

func memberSet(k verbs.Kind) *cobra.Command {
	var w verbs.Replacing
	cmd := k.Writing(verbs.Writer{
		Use:   "set SUBJECT --role ROLE",
		Short: "Give a subject a role, or change its role",
		Long: `Gives the subject this role in the project, in place of an earlier one. All servers apply it within 5 seconds. Each role
includes the previous ones: viewer (reads), consumer (claims), provider (pools, spaces, grants), admin (members, keys,
quotas, the audit trail). An admin of the project 'platform' may do everything in every project.

A subject is the name of an issuer in the server's configuration, a colon, and the issuer's name for the user:
corp:alice@example.com. The server does not check that the user exists. 'ipamctl whoami' shows your own subject.`,
		Example:  "  ipamctl member set corp:alice@example.com --role consumer",
		Required: []string{"role"},
	}, k.Fields, func(ctx context.Context, r verbs.Resource, doc map[string]any, _ session.Query) error {
		a, err := k.Put(ctx, r.Session, r.Name, w, doc, "")
		if err == nil && a.Status == http.StatusCreated {
			hintIssuer(ctx, k, r.Session, r.Name)
		}
		return k.Shown(a, err)
	})
	cmd.Args = k.Named(1)
	w.Add(cmd, "replace only")
	return cmd
}

// hintIssuer notes that neither the caller nor another member in the project has a new member's issuer. The server accepts every issuer, because its
// configuration can change later. hintIssuer prints nothing if it cannot read the members.
func hintIssuer(ctx context.Context, k verbs.Kind, s *session.Session, subject string) {
	issuer, _, named := strings.Cut(subject, ":")
	if s.Quiet || !named {
		return
	}
	me, err := session.Into[client.Whoami](s.Ask(ctx, session.Get("whoami")))
	if err != nil {
		return
	}
	members, _, err := verbs.Every[client.Member](ctx, k, s, nil)
	if err != nil {
		return
	}
	known := append(show.WordsOf(show.Rows(members), k.Name), me.Subject)
	if !slices.ContainsFunc(known, func(other string) bool { return other != subject && strings.HasPrefix(other, issuer+":") }) {
		s.Remark("%s is the first member with the issuer %s here: check that the server's --oidc-config has an issuer of this name", subject, issuer)
	}
}
