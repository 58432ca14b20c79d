package kinds

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// roles lists the roles that a member can have. The role with the fewest rights is first.
var roles = []client.Role{client.RoleViewer, client.RoleConsumer, client.RoleProvider, client.RoleAdmin}

const subjectHelp = `A subject is the name of an issuer in the server's configuration, a colon, and the issuer's name for the user:
corp:alice@example.com. The server does not check that the user exists. 'ipamctl whoami' shows your own subject.`

func memberCommand(p *session.Program) *cobra.Command {
	k := verbs.Kind[client.Member]{
		P: p, View: memberView(), Home: verbs.HomeOf(p, "members"), Args: verbs.Subjects(-1),
		Fields: []verbs.Field{{Flag: "role", Path: "spec.role", Value: verbs.OneOf(roles...), Usage: "role of the member"}},
	}
	get := k.GetVerb()
	get.Use = "get SUBJECT..."
	return verbs.Group("member", "Roles of subjects in the project", []string{"members"},
		k.ListVerb("Lists the members of the project with their roles. The list does not contain roles from the server's configuration, and roles\nof API keys."),
		get,
		memberSet(k),
		k.DeleteVerb(verbs.Removal{
			Use: "remove SUBJECT...", Done: "removed",
			Long: "Removes the roles of members, on all servers within 5 seconds. Objects that they created stay. You cannot remove the last admin\nof the project 'platform'.",
		}),
	)
}

func memberSet(k verbs.Kind[client.Member]) *cobra.Command {
	var w verbs.Replacing
	cmd := &cobra.Command{
		Use:   "set SUBJECT --role ROLE",
		Short: "Give a subject a role, or change its role",
		Long: `Gives the subject this role in the project, in place of an earlier one. All servers apply it within 5 seconds. Each role
includes the previous ones: viewer (reads), consumer (claims), provider (pools, spaces, grants), admin (members, keys,
quotas, the audit trail). An admin of the project 'platform' may do everything in every project.

` + subjectHelp,
		Example:           "  ipamctl member set corp:alice@example.com --role consumer",
		Args:              verbs.Subjects(1),
		ValidArgsFunction: k.Complete(),
	}
	fields := verbs.AddFields(k.P, cmd, k.Fields, false)
	verbs.Required(cmd, "role")
	w.Add(cmd, "replace only")
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		doc := map[string]any{}
		if err := fields.Into(cmd, doc); err != nil {
			return err
		}
		s, err := k.Within()
		if err != nil {
			return err
		}
		a, err := k.Put(ctx, s, args[0], w, doc, "")
		if err != nil {
			return err
		}
		if a.Status == http.StatusCreated {
			hintIssuer(ctx, k, s, args[0])
		}
		return show.One(k.P.Printer, k.View, a.Body)
	})
	return cmd
}

// hintIssuer notes that neither the caller nor another member of the project has the issuer of a new member. The server accepts members of all issuers,
// because its configuration can change later. hintIssuer prints nothing if it cannot read the members.
func hintIssuer(ctx context.Context, k verbs.Kind[client.Member], s *session.Session, subject string) {
	issuer, _, named := strings.Cut(subject, ":")
	if s.Quiet || !named {
		return
	}
	var me client.Whoami
	a, err := s.Ask(ctx, session.Get("whoami"))
	if err != nil || json.Unmarshal(a.Body, &me) != nil {
		return
	}
	members, _, err := k.Every(ctx, s, nil)
	if err != nil {
		return
	}
	known := []string{me.Subject}
	for _, m := range members {
		known = append(known, m.Metadata.Name)
	}
	for _, other := range known {
		if other != subject && strings.HasPrefix(other, issuer+":") {
			return
		}
	}
	s.Remark("%s is the first member with the issuer %s here: check that the server's --oidc-config has an issuer of this name", subject, issuer)
}

func memberView() show.View[client.Member] {
	type T = client.Member
	return show.View[T]{
		Kind: "member",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "SUBJECT", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "ROLE", Cell: func(t T) string { return string(t.Spec.Role) }},
		}, plainColumns(func(t T) client.PlainMetadata { return t.Metadata })...),
	}
}
