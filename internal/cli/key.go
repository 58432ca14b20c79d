package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) keyCommand() *cobra.Command {
	k := kind[client.APIKey]{p: p, view: keyView(), home: p.homeOf("api-keys"), fields: append(labelFields(), description(),
		field{flag: "role", path: "spec.role", value: oneOf(roles...), usage: "what it may do"},
		field{
			flag: "expires-in", path: "spec.expiresAt", value: func(string, bool) value { return &span{now: p.now} },
			usage: "how long it is accepted, like 720h or 30d (default: for ever)",
		},
		field{flag: "expires-at", path: "spec.expiresAt", value: readBy(expiry), usage: "or: until this `TIME`, like 2027-03-02T00:00:00Z"},
	)}
	return group("key", "API keys: secrets that stand for a role in the project", []string{"keys"},
		p.keyCreate(k),
		k.listVerb("Lists the API keys of the project, expired ones too. Tokens are not kept and cannot be shown."),
		k.getVerb(),
		k.deleteVerb(removal{
			use: "revoke NAME...", done: "revoked",
			long: "Deletes keys: within 5 seconds no server accepts their tokens any more. What was made with them stays.",
		}),
	)
}

// expiry reads the time of --expires-at.
func expiry(text string) (any, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, usagef("--expires-at must be a time like 2027-03-02T00:00:00Z, not %q", text)
	}
	return at, nil
}

func keyView() view[client.APIKey] {
	type T = client.APIKey
	return view[T]{
		kind: "key",
		name: func(t T) string { return t.Metadata.Name },
		columns: append([]column[T]{
			{title: "NAME", cell: func(t T) string { return t.Metadata.Name }},
			{title: "ROLE", cell: func(t T) string { return string(t.Spec.Role) }},
			{title: "PHASE", cell: func(t T) string { return string(t.Status.Phase) }},
			{title: "EXPIRES", cell: func(t T) string { return orNever(t.Spec.ExpiresAt) }},
			{title: "LAST USED", cell: func(t T) string { return orNever(t.Status.LastUsedAt) }},
			{title: "DESCRIPTION", wide: true, cell: func(t T) string { return t.Spec.Description }},
			{title: "KEY ID", wide: true, cell: func(t T) string { return t.Status.KeyID }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

func orNever(t *time.Time) string { return firstOf(timeText(t), "never") }
