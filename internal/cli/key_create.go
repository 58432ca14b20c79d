package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) keyCreate(k kind[client.APIKey]) *cobra.Command {
	cmd := k.createVerb(&cobra.Command{
		Use:   "create NAME --role ROLE",
		Short: "Make an API key, and print its token this once",
		Long: `Makes a secret that stands for a role in the project. The token is printed this once: nobody keeps it, and it cannot be
had again. With --quiet it is all that is printed; with -o json and yaml it is in the document.

Give it to a program as CARVE_API_KEY, or keep it in a context.`,
		Example: `  ipamctl key create pipeline --role consumer --expires-in 90d
  ipamctl key create laptop --role viewer -q | ipamctl context set team-a --api-key-file -`,
	}, creation{shown: showNewKey, check: func(*cobra.Command) error {
		if p.flags.output == formatName && !p.flags.quiet {
			return usagef("with -o name nobody would ever see the token: use --quiet for the token alone, or another format")
		}
		return nil
	}})
	required(cmd, "role")
	cmd.MarkFlagsMutuallyExclusive("expires-in", "expires-at")
	return cmd
}

// showNewKey prints a key with its token, the only time that there is one.
func showNewKey(s *session, doc json.RawMessage, w writing) error {
	var key client.APIKey
	if err := json.Unmarshal(doc, &key); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	switch {
	case key.Token == "" && !w.dryRun:
		return fmt.Errorf("key %s was made by an earlier request, whose answer had the token; it cannot be had again. "+
			"Revoke the key and make another one: ipamctl key revoke %s -p %s", key.Metadata.Name, key.Metadata.Name, s.project)
	case s.flags.quiet && key.Token == "":
		return nil // whoever reads on expects a token
	case s.flags.quiet && s.flags.output != formatJSON && s.flags.output != formatYAML:
		return s.lines([]string{key.Token})
	}
	if err := one(s.program, keyView(), doc); err != nil || key.Token == "" {
		return err
	}
	if s.flags.output == formatTable || s.flags.output == formatWide {
		if err := s.lines([]string{"", key.Token}); err != nil {
			return err
		}
	}
	s.remark("keep the token now: it is not stored anywhere, and is not shown again")
	return nil
}
