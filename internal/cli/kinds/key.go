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

func keys(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, In: "api-keys", Short: "API keys: secrets with a role in the project",
		View: show.ViewOf[client.APIKey]("key", `
			NAME: metadata.name
			ROLE: spec.role
			PHASE: status.phase
			EXPIRES: spec.expiresAt, or never
			LAST USED: status.lastUsedAt, or never
			DESCRIPTION: spec.description, wide
			KEY ID: status.keyId, wide`+labelled, nil),
		Fields: append(verbs.Described[:3:3], []verbs.Field{
			{Flag: "role", Words: roles, Usage: "role of the key"},
			{Flag: "expires-in", Path: "spec.expiresAt", Value: verbs.After(p.Clock), Usage: "lifetime of the key, like 720h or 30d (default: no limit)"},
			{Flag: "expires-at", Value: verbs.ReadBy(expiry), Usage: "or the `TIME` when it expires, like 2027-03-02T00:00:00Z"},
		}...),
		ListHelp: "Lists the API keys of the project, including expired ones. The server does not store tokens and cannot show them.",
		Get:      true,
		Create: &verbs.Writer{
			Use:   "create NAME --role ROLE",
			Short: "Create an API key, and print its token once",
			Long: `Creates a secret with a role in the project. Only this command shows the token, because the server does not store it.
--quiet prints only the token; -o json and yaml have it in the document.

Pass the token to a program as CARVE_API_KEY, or store it in a context.`,
			Example: `  ipamctl key create pipeline --role consumer --expires-in 90d
  ipamctl key create laptop --role viewer -q | ipamctl context set team-a --api-key-file -`,
			Required: []string{"role"},
			Flags:    func(cmd *cobra.Command) { cmd.MarkFlagsMutuallyExclusive("expires-in", "expires-at") },
			Secret:   &verbs.Secret{Word: "token", Remove: "revoke"},
		},
		Delete: &verbs.Removal{
			Verb: "revoke", Done: "revoked",
			Long: "Deletes keys: after 5 seconds at most, no server accepts their tokens. Objects that were created with them stay.",
		},
	}
}

// expiry parses --expires-at.
func expiry(text string) (any, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, exit.Usagef("--expires-at must be a time like 2027-03-02T00:00:00Z, not %q", text)
	}
	return at, nil
}
