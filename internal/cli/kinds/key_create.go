package kinds

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func keyCreate(p *session.Program, k verbs.Kind[client.APIKey]) *cobra.Command {
	cmd := k.CreateVerb(&cobra.Command{
		Use:   "create NAME --role ROLE",
		Short: "Create an API key, and print its token once",
		Long: `Creates a secret with a role in the project. Only this command shows the token, because the server does not store it.
--quiet prints only the token; -o json and yaml have it in the document.

Pass the token to a program as CARVE_API_KEY, or store it in a context.`,
		Example: `  ipamctl key create pipeline --role consumer --expires-in 90d
  ipamctl key create laptop --role viewer -q | ipamctl context set team-a --api-key-file -`,
	}, verbs.Creation{Shown: showNewKey, Check: func(*cobra.Command) error {
		if p.Output == show.FormatName && !p.Quiet {
			return exit.Usagef("-o name does not show the token, and no later command can: use --quiet for the token alone, or another format")
		}
		return nil
	}})
	verbs.Required(cmd, "role")
	cmd.MarkFlagsMutuallyExclusive("expires-in", "expires-at")
	return cmd
}

// showNewKey prints a new key with its token. The server returns the token only once.
func showNewKey(s *session.Session, doc json.RawMessage, w session.Writing) error {
	var key client.APIKey
	if err := json.Unmarshal(doc, &key); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	return showOnce(s, keyView(), doc, w, "token", key.Token, fmt.Sprintf("an earlier request created key %s, and only its response contained the token. "+
		"Revoke the key and create another one: ipamctl key revoke %s -p %s", key.Metadata.Name, key.Metadata.Name, s.Project))
}

// showOnce prints a new object with its secret. If the response has no secret, it returns an error that explains why.
func showOnce[T any](s *session.Session, view show.View[T], doc json.RawMessage, w session.Writing, word, secret, late string) error {
	switch {
	case secret == "" && !w.DryRun:
		return errors.New(late)
	case s.Quiet && secret == "":
		return nil // print nothing, because the reader of the output expects only a secret
	case s.Quiet && !s.Structured():
		return s.Lines([]string{secret})
	}
	if err := show.One(s.Printer, view, doc); err != nil || secret == "" {
		return err
	}
	if s.Tabular() {
		if err := s.Lines([]string{"", secret}); err != nil {
			return err
		}
	}
	s.Remark("keep the %s now: the server does not store it, and no command shows it again", word)
	return nil
}
