package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// keyFlags are what a new key is to be.
type keyFlags struct {
	creating
	role, description string
	expiresIn         span
	expiresAt         string
}

func (p *program) keyCreate() *cobra.Command {
	var f keyFlags
	cmd := &cobra.Command{
		Use:   "create NAME --role ROLE",
		Short: "Make an API key, and print its token this once",
		Long: `Makes a secret that stands for a role in the project. The token is printed this once: nobody keeps it, and it cannot be
had again. With --quiet it is all that is printed; with -o json and yaml it is in the document.

Give it to a program as CARVE_API_KEY, or keep it in a context.`,
		Example: `  ipamctl key create pipeline --role consumer --expires-in 90d
  ipamctl key create laptop --role viewer -q | ipamctl context set team-a --api-key-file -`,
		Args:              names("key", 0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			if p.flags.output == formatName && !p.flags.quiet {
				return usagef("with -o name nobody would ever see the token: use --quiet for the token alone, or another format")
			}
			meta, err := f.metadata("key", args)
			if err != nil {
				return err
			}
			spec, err := f.spec(p.Now())
			if err != nil {
				return err
			}
			s, err := p.inProject()
			if err != nil {
				return err
			}
			a, err := s.post(ctx, f.writing, func(ctx context.Context, dry *client.DryRun, key *client.IdempotencyKey) (*http.Response, error) {
				return s.api.CreateAPIKey(ctx, s.project, &client.CreateAPIKeyParams{DryRun: dry, IdempotencyKey: key},
					client.APIKeyCreate{Metadata: meta, Spec: spec})
			})
			if err != nil {
				return err
			}
			return s.showNewKey(a.body, f.dryRun)
		}),
	}
	f.add(cmd)
	choiceFlag(cmd, &f.role, "role", "what it may do", roles...)
	_ = cmd.MarkFlagRequired("role") // it is there, in the line above
	cmd.Flags().Var(&f.expiresIn, "expires-in", "how long it is accepted, like 720h or 30d (default: for ever)")
	cmd.Flags().StringVar(&f.expiresAt, "expires-at", "", "or: until this `TIME`, like 2027-03-02T00:00:00Z")
	cmd.MarkFlagsMutuallyExclusive("expires-in", "expires-at")
	cmd.Flags().StringVar(&f.description, "description", "", "`TEXT`: what it is for")
	return cmd
}

func (f *keyFlags) spec(now time.Time) (client.APIKeySpec, error) {
	spec := client.APIKeySpec{Role: client.Role(f.role), Description: f.description}
	switch {
	case f.expiresIn != 0:
		at := now.Add(time.Duration(f.expiresIn)).UTC().Truncate(time.Second)
		spec.ExpiresAt = &at
	case f.expiresAt != "":
		at, err := time.Parse(time.RFC3339, f.expiresAt)
		if err != nil {
			return spec, usagef("--expires-at must be a time like 2027-03-02T00:00:00Z, not %q", f.expiresAt)
		}
		spec.ExpiresAt = &at
	}
	return spec, nil
}

// showNewKey prints a key with its token, the only time that there is one.
func (s *session) showNewKey(doc json.RawMessage, dry bool) error {
	var key client.APIKey
	if err := json.Unmarshal(doc, &key); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	switch {
	case key.Token == "" && !dry:
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
