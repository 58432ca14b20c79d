package cli

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) keyCommand() *cobra.Command {
	within := p.inProject
	complete := completeNames(p, within, func(s *session) (fetch, error) { return s.fetchKeys, nil })
	read := func(ctx context.Context, s *session, name string) (*http.Response, error) {
		return s.api.GetAPIKey(ctx, s.project, name)
	}
	return group("key", "API keys: secrets that stand for a role in the project", []string{"keys"},
		p.keyCreate(),
		listVerb(p, keyView(), "Lists the API keys of the project, expired ones too. Tokens are not kept and cannot be shown.",
			within, func(*cobra.Command) {}, func(s *session) (fetch, error) { return s.fetchKeys, nil }),
		getVerb(p, keyView(), within, complete, read),
		p.deleteVerb(removal{
			kind: "key", use: "revoke NAME...", done: "revoked", within: within, complete: complete, read: read,
			long: "Deletes keys: within 5 seconds no server accepts their tokens any more. What was made with them stays.",
			send: func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error) {
				return s.api.DeleteAPIKey(ctx, s.project, name, &client.DeleteAPIKeyParams{DryRun: d.dry(), IfMatch: d.match()})
			},
		}),
	)
}

func (s *session) fetchKeys(ctx context.Context, ask asking) (*http.Response, error) {
	return s.api.ListAPIKeys(ctx, s.project, &client.ListAPIKeysParams{Limit: ask.limit, Cursor: ask.cursor, Consistency: ask.consistency})
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
