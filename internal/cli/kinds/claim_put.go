package kinds

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func claimPut(k verbs.Kind) *cobra.Command {
	var w verbs.Replacing
	cmd := k.Writing(verbs.Writer{
		Use:   "put NAME [--class CLASS | --pool POOL | --selector LABELS | --allocation UUID]",
		Short: "Claim a block, or get the existing claim of this name",
		Long: `Creates the claim, or returns the existing claim if it has this name and the same spec, even if its pool is full now. A claim with
another spec is a conflict (exit code 4), and the error names the differences. Labels and annotations apply to a new claim only: if
an existing claim has others, ipamctl prints a warning; 'ipamctl claim set' changes them. Use this verb in scripts that run
repeatedly.`,
		Example: "  cidr=$(ipamctl claim put web --class standard --prefix-length 24 -q)",
		Check:   checkClaim,
	}, k.Fields, func(ctx context.Context, r verbs.Resource, doc map[string]any, _ session.Query) error {
		a, err := k.Put(ctx, r.Session, r.Name, w, withSpec(doc), "")
		if err == nil && a.Status == http.StatusOK {
			r.Remark("claim %s exists already, with the same spec", r.Name)
			err = warnOfMissingPairs(r.Session, k.Kind, a.Body, doc)
		}
		return k.Shown(a, err)
	})
	verbs.AddDryRun(&w.Writing, cmd)
	return cmd
}

// withSpec adds an empty spec to a document without one, because the contract requires it.
func withSpec(doc map[string]any) map[string]any {
	verbs.Below(doc, "spec")
	return doc
}
