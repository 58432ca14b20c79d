package operate

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

func (p *Operator) bootstrapCommand() *cobra.Command {
	var t target
	var region, intoSecret, account string
	cmd := &cobra.Command{
		Use:   "bootstrap",
		Short: "Create an API key for an admin of the platform, in the database itself",
		Long: `Creates an API key with the role admin in the project 'platform', and prints its token once. It needs no server, and no credential
except the database's. Use it for the first admin of a new installation, and to regain access when the last admin's key is lost. The
audit trail records it.

With the key, create members or keys for the people and programs that administer the platform. Then revoke it.

In a pod of a Kubernetes cluster, --into-secret writes the token into an existing Secret, as 'api-key', and prints nothing. If the
Secret has a key already, the command changes nothing and creates no key.`,
		Example: `  ipamctl bootstrap --data-dir ./data -q | ipamctl context set admin --server http://127.0.0.1:8080 --api-key-file -
  ipamctl bootstrap --database-url postgresql://carve@db.example.com:26257/carve`,
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			if p.Output == show.FormatName && !p.Quiet {
				return exit.Usagef("a token has no name: use --quiet for the token alone")
			}
			dsn, err := p.dsn(t)
			if err != nil {
				return err
			}
			bootstrap := func() (string, error) {
				return p.Bootstrap(ctx, dsn, show.FirstOf(region, p.Env("CARVE_REGION"), defaultRegion))
			}
			if intoSecret != "" {
				s, err := p.openSecret(intoSecret, account)
				if err != nil {
					return err
				}
				return p.bootstrapInto(ctx, s, bootstrap)
			}
			made, err := bootstrap()
			if err != nil {
				return offline(err)
			}
			return p.showBootstrap(session.Token(made))
		}),
	}
	t.add(cmd)
	cmd.Flags().StringVar(&region, "region", "", "`REGION` of this installation's rows (env CARVE_REGION, default "+defaultRegion+")")
	cmd.Flags().StringVar(&intoSecret, "into-secret", "", "`NAME` of a Secret in this pod's namespace that receives the token, unless it has one")
	cmd.Flags().StringVar(&account, "service-account", serviceAccountDir,
		"with --into-secret: the `DIRECTORY` with this pod's token, namespace and ca.crt")
	return cmd
}

// showBootstrap prints the new key's token. The token cannot be read again later.
func (p *Operator) showBootstrap(made session.Token) error {
	if p.Structured() {
		return p.DocumentOf(struct {
			Token string `json:"token"`
			KeyID string `json:"keyId"`
		}{string(made), made.KeyID()})
	}
	if err := p.Lines([]string{string(made)}); err != nil {
		return err
	}
	p.Remark(`This is the token of a new API key with the role admin in the project 'platform'. No command shows it again. Store it in a
context, which reads it without echo:

  ipamctl context set admin --server URL --api-key-file -

or pass it to a program as CARVE_API_KEY. When there are other admins, revoke it: ipamctl key list -p platform`)
	return nil
}
