package kinds

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func keyCommand(p *session.Program) *cobra.Command {
	k := verbs.Kind[client.APIKey]{P: p, View: keyView(), Home: verbs.HomeOf(p, "api-keys"), Fields: append(verbs.LabelFields(), verbs.Description(),
		verbs.Field{Flag: "role", Path: "spec.role", Value: verbs.OneOf(roles...), Usage: "role of the key"},
		verbs.Field{
			Flag: "expires-in", Path: "spec.expiresAt", Value: verbs.After(p.Clock),
			Usage: "lifetime of the key, like 720h or 30d (default: no limit)",
		},
		verbs.Field{Flag: "expires-at", Path: "spec.expiresAt", Value: verbs.ReadBy(expiry), Usage: "or the `TIME` when it expires, like 2027-03-02T00:00:00Z"},
	)}
	return verbs.Group("key", "API keys: secrets with a role in the project", []string{"keys"},
		keyCreate(p, k),
		k.ListVerb("Lists the API keys of the project, including expired ones. The server does not store tokens and cannot show them."),
		k.GetVerb(),
		k.DeleteVerb(verbs.Removal{
			Use: "revoke NAME...", Done: "revoked",
			Long: "Deletes keys: after 5 seconds at most, no server accepts their tokens. Objects that were created with them stay.",
		}),
	)
}

// expiry parses --expires-at.
func expiry(text string) (any, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, exit.Usagef("--expires-at must be a time like 2027-03-02T00:00:00Z, not %q", text)
	}
	return at, nil
}

func keyView() show.View[client.APIKey] {
	type T = client.APIKey
	return show.View[T]{
		Kind: "key",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "ROLE", Cell: func(t T) string { return string(t.Spec.Role) }},
			{Title: "PHASE", Cell: func(t T) string { return string(t.Status.Phase) }},
			{Title: "EXPIRES", Cell: func(t T) string { return orNever(t.Spec.ExpiresAt) }},
			{Title: "LAST USED", Cell: func(t T) string { return orNever(t.Status.LastUsedAt) }},
			{Title: "DESCRIPTION", Wide: true, Cell: func(t T) string { return t.Spec.Description }},
			{Title: "KEY ID", Wide: true, Cell: func(t T) string { return t.Status.KeyID }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

func orNever(t *time.Time) string { return show.FirstOf(show.TimeText(t), "never") }
