package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// classChanges are what is to be changed about a class.
type classChanges struct {
	changing
	classPolicy
	parameters pairChanges
}

func (p *program) classSet(complete completion) *cobra.Command {
	var f classChanges
	cmd := &cobra.Command{
		Use:   "set NAME [--default] [--default-prefix-length N] [--reuse-after DURATION] ...",
		Short: "Change what is given of a class",
		Long: `Changes what is given and leaves the rest; 'none' gives a field its default. What changes holds for later claims: claims that
exist keep what they have. The family, --pool-per and --pool-prefix-length never change.`,
		Example: `  ipamctl class set standard --default-prefix-length 26 --max-prefix-length none
  ipamctl class set gold --default --move-default
  ipamctl class set standard --label tier=gold --label old-`,
		Args:              refs("class", 1, 1),
		ValidArgsFunction: complete,
		SuggestFor:        wordsForSet,
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		move, err := f.moving()
		if err != nil {
			return err
		}
		return set(ctx, p, classView(), p.inProject, cmd, f.patch(cmd), args[0], func(ctx context.Context, r resource, doc []byte) (*http.Response, error) {
			return r.api.PatchClassWithApplicationMergePatchPlusJSONBody(ctx, r.project, r.name,
				&client.PatchClassParams{MoveDefault: move, DryRun: f.dry(), IfMatch: f.etag()}, doc)
		})
	})
	f.changing.add(cmd)
	f.classPolicy.add(cmd, true)
	cmd.Flags().Var(&f.parameters, "parameter", "parameter to set, or with a dash behind its key to take away (repeatable)")
	return cmd
}

// patch is what was given.
func (f *classChanges) patch(cmd *cobra.Command) mergePatch {
	m := f.from(cmd.Flags())
	m.put("strategy", orNull(f.strategy), "spec", "strategy")
	m.put("pool-selection", orNull(f.selection), "spec", "poolSelection")
	m.put("reclaim-policy", orNull(f.reclaim), "spec", "reclaimPolicy")
	m.put("visibility", orNull(f.visibility), "spec", "visibility")
	m.put("min-prefix-length", f.least.value(), "spec", "allowedPrefixLengths", "min")
	m.put("max-prefix-length", f.most.value(), "spec", "allowedPrefixLengths", "max")
	m.put("default-prefix-length", f.preset.value(), "spec", "defaultPrefixLength")
	m.put("reuse-after", orNull(f.reuseAfter.text), "spec", "reuseAfter")
	m.put("empty-pool-ttl", orNull(f.emptyTTL.text), "spec", "emptyPoolTTL")
	m.put("default", f.asDefault, "spec", "isDefault")
	m.put("parameter", f.parameters, "spec", "parameters")
	m.put("description", f.description, "spec", "description")
	return m
}
