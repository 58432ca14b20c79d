package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// roles are the roles that can be given, the smallest first.
var roles = []client.Role{client.RoleViewer, client.RoleConsumer, client.RoleProvider, client.RoleAdmin}

const subjectHelp = `A subject is the name of an issuer that the server knows, a colon, and who it is there: corp:alice@example.com. Nobody
checks that it exists: the role is there when it comes. 'ipamctl whoami' says one's own.`

func (p *program) memberCommand() *cobra.Command {
	within := p.inProject
	complete := completeNames(p, within, func(s *session) (fetch, error) { return s.fetchMembers, nil })
	read := func(ctx context.Context, s *session, subject string) (*http.Response, error) {
		return s.api.GetMember(ctx, s.project, subject)
	}
	get := getVerb(p, memberView(), within, complete, read)
	get.Use, get.Args = "get SUBJECT...", subjects(-1)
	return group("member", "Who has which role in the project", []string{"members"},
		listVerb(p, memberView(), "Lists who was given a role in the project. Roles that the server's configuration gives, and those of API keys, are not\namong them.",
			within, func(*cobra.Command) {}, func(s *session) (fetch, error) { return s.fetchMembers, nil }),
		get,
		p.memberSet(complete),
		p.deleteVerb(removal{
			kind: "member", use: "remove SUBJECT...", done: "removed", args: subjects(-1),
			within: within, complete: complete, read: read,
			long: "Takes their roles away: within 5 seconds, everywhere. What they made stays. The last admin of the project 'platform' cannot\nbe removed.",
			send: func(ctx context.Context, s *session, subject string, d deleting) (*http.Response, error) {
				return s.api.DeleteMember(ctx, s.project, subject, &client.DeleteMemberParams{DryRun: d.dry(), IfMatch: d.match()})
			},
		}),
	)
}

func (s *session) fetchMembers(ctx context.Context, ask asking) (*http.Response, error) {
	return s.api.ListMembers(ctx, s.project, &client.ListMembersParams{Limit: ask.limit, Cursor: ask.cursor, Consistency: ask.consistency})
}

func (p *program) memberSet(complete completion) *cobra.Command {
	var w replacing
	var role string
	cmd := &cobra.Command{
		Use:   "set SUBJECT --role ROLE",
		Short: "Give a subject a role, or another one",
		Long: `Gives the subject this role in the project, whether or not it had one before: within 5 seconds, everywhere. Each role
includes the ones before it: viewer (reads), consumer (claims), provider (pools, spaces, grants), admin (members, keys,
quotas, the audit trail). An admin of the project 'platform' may do everything in every project.

` + subjectHelp,
		Example:           "  ipamctl member set corp:alice@example.com --role consumer",
		Args:              subjects(1),
		ValidArgsFunction: complete,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			s, err := p.inProject()
			if err != nil {
				return err
			}
			a, err := s.put(ctx, func(ctx context.Context) (*http.Response, error) {
				return s.api.PutMember(ctx, s.project, args[0], &client.PutMemberParams{DryRun: w.dry(), IfMatch: w.match()},
					client.MemberPut{Spec: client.MemberSpec{Role: client.Role(role)}})
			})
			if err != nil {
				return err
			}
			return one(p, memberView(), a.body)
		}),
	}
	choiceFlag(cmd, &role, "role", "what it may do", roles...)
	_ = cmd.MarkFlagRequired("role") // it is there, in the line above
	w.add(cmd)
	return cmd
}

func memberView() view[client.Member] {
	type T = client.Member
	return view[T]{
		kind: "member",
		name: func(t T) string { return t.Metadata.Name },
		columns: append([]column[T]{
			{title: "SUBJECT", cell: func(t T) string { return t.Metadata.Name }},
			{title: "ROLE", cell: func(t T) string { return string(t.Spec.Role) }},
		}, plainColumns(func(t T) client.PlainMetadata { return t.Metadata })...),
	}
}
