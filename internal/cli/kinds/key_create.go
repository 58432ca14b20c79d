package kinds

import (
	"encoding/json"
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

// showNewKey prints a key with its token, the only time that there is one.
func showNewKey(s *session.Session, doc json.RawMessage, w session.Writing) error {
	var key client.APIKey
	if err := json.Unmarshal(doc, &key); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	switch {
	case key.Token == "" && !w.DryRun:
		return fmt.Errorf("key %s was made by an earlier request, whose answer had the token; it cannot be had again. "+
			"Revoke the key and make another one: ipamctl key revoke %s -p %s", key.Metadata.Name, key.Metadata.Name, s.Project)
	case s.Quiet && key.Token == "":
		return nil // whoever reads on expects a token
	case s.Quiet && s.Output != show.FormatJSON && s.Output != show.FormatYAML:
		return s.Lines([]string{key.Token})
	}
	if err := show.One(s.Printer, keyView(), doc); err != nil || key.Token == "" {
		return err
	}
	if s.Output == show.FormatTable || s.Output == show.FormatWide {
		if err := s.Lines([]string{"", key.Token}); err != nil {
			return err
		}
	}
	s.Remark("keep the token now: it is not stored anywhere, and is not shown again")
	return nil
}
