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
		Short: "Make an API key, and print its token this once",
		Long: `Makes a secret that stands for a role in the project. The token is printed this once: nobody keeps it, and it cannot be
had again. With --quiet it is all that is printed; with -o json and yaml it is in the document.

Give it to a program as CARVE_API_KEY, or keep it in a context.`,
		Example: `  ipamctl key create pipeline --role consumer --expires-in 90d
  ipamctl key create laptop --role viewer -q | ipamctl context set team-a --api-key-file -`,
	}, verbs.Creation{Shown: showNewKey, Check: func(*cobra.Command) error {
		if p.Output == show.FormatName && !p.Quiet {
			return exit.Usagef("with -o name nobody would ever see the token: use --quiet for the token alone, or another format")
		}
		return nil
	}})
	verbs.Required(cmd, "role")
	cmd.MarkFlagsMutuallyExclusive("expires-in", "expires-at")
	return cmd
}

// showNewKey prints a key with its token, which exists only now.
func showNewKey(s *session.Session, doc json.RawMessage, w session.Writing) error {
	var key client.APIKey
	if err := json.Unmarshal(doc, &key); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	return showOnce(s, keyView(), doc, w, "token", key.Token, fmt.Sprintf("key %s was made by an earlier request, whose answer had the token; it cannot be had again. "+
		"Revoke the key and make another one: ipamctl key revoke %s -p %s", key.Metadata.Name, key.Metadata.Name, s.Project))
}

// showOnce prints a new thing with its secret, or explains why there is no secret.
func showOnce[T any](s *session.Session, view show.View[T], doc json.RawMessage, w session.Writing, word, secret, late string) error {
	switch {
	case secret == "" && !w.DryRun:
		return errors.New(late)
	case s.Quiet && secret == "":
		return nil // the reader of the output expects a secret
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
	s.Remark("keep the %s now: it is not stored anywhere, and is not shown again", word)
	return nil
}
