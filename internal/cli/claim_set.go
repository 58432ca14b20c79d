package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) claimSet(complete completion) *cobra.Command {
	var f changing
	var policy string
	cmd := &cobra.Command{
		Use:   "set NAME [--label KEY=VALUE]... [--reclaim-policy POLICY] ...",
		Short: "Change the labels and annotations of a claim, and what becomes of its block",
		Long: `Changes what is given and leaves the rest. 'none' as a policy is the default one. The block of a claim never changes, nor does
what was asked for: 'ipamctl claim delete' gives it back.`,
		Example: `  ipamctl claim set web --label team=shop --label old-
  ipamctl claim set vip --reclaim-policy Retain`,
		Args:              refs("claim", 1, 1),
		ValidArgsFunction: complete,
		SuggestFor:        wordsForSet,
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		m := f.from(cmd.Flags())
		m.put("reclaim-policy", orNull(policy), "spec", "reclaimPolicy")
		return set(ctx, p, claimView(), p.inProject, cmd, m, args[0], func(ctx context.Context, r resource, doc []byte) (*http.Response, error) {
			return r.api.PatchClaimWithApplicationMergePatchPlusJSONBody(ctx, r.project, r.name,
				&client.PatchClaimParams{DryRun: f.dry(), IfMatch: f.etag()}, doc)
		})
	})
	f.add(cmd)
	clearableFlag(cmd, &policy, "reclaim-policy", "what becomes of the block when the claim is deleted",
		text(client.ReclaimPolicyDelete, client.ReclaimPolicyRetain)...)
	return cmd
}
