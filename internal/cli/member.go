package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// roles are the roles that can be given, the smallest first.
var roles = []client.Role{client.RoleViewer, client.RoleConsumer, client.RoleProvider, client.RoleAdmin}

const subjectHelp = `A subject is the name of an issuer that the server knows, a colon, and who it is there: corp:alice@example.com. Nobody
checks that it exists: the role is there when it comes. 'ipamctl whoami' says one's own.`

func (p *program) memberCommand() *cobra.Command {
	k := kind[client.Member]{
		p: p, view: memberView(), home: p.homeOf("members"), args: subjects(-1),
		fields: []field{{flag: "role", path: "spec.role", value: oneOf(roles...), usage: "what it may do"}},
	}
	get := k.getVerb()
	get.Use = "get SUBJECT..."
	return group("member", "Who has which role in the project", []string{"members"},
		k.listVerb("Lists who was given a role in the project. Roles that the server's configuration gives, and those of API keys, are not\namong them."),
		get,
		memberSet(k),
		k.deleteVerb(removal{
			use: "remove SUBJECT...", done: "removed",
			long: "Takes their roles away: within 5 seconds, everywhere. What they made stays. The last admin of the project 'platform' cannot\nbe removed.",
		}),
	)
}

func memberSet(k kind[client.Member]) *cobra.Command {
	var w replacing
	cmd := &cobra.Command{
		Use:   "set SUBJECT --role ROLE",
		Short: "Give a subject a role, or another one",
		Long: `Gives the subject this role in the project, whether or not it had one before: within 5 seconds, everywhere. Each role
includes the ones before it: viewer (reads), consumer (claims), provider (pools, spaces, grants), admin (members, keys,
quotas, the audit trail). An admin of the project 'platform' may do everything in every project.

` + subjectHelp,
		Example:           "  ipamctl member set corp:alice@example.com --role consumer",
		Args:              subjects(1),
		ValidArgsFunction: k.complete(),
	}
	fields := k.p.addFields(cmd, k.fields, false)
	required(cmd, "role")
	w.add(cmd, "replace only")
	cmd.RunE = k.p.verb(func(ctx context.Context, args []string) error {
		doc := map[string]any{}
		if err := fields.into(cmd, doc); err != nil {
			return err
		}
		s, err := k.within()
		if err != nil {
			return err
		}
		a, err := k.put(ctx, s, args[0], w, doc, "")
		if err != nil {
			return err
		}
		return one(k.p, k.view, a.body)
	})
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
