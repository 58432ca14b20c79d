package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// poolChanges are what is to be changed about a pool.
type poolChanges struct {
	changing
	classes, reserve, regions         []string
	strategy, visibility, description string
	least, most, preset               clearLength
	reuseAfter                        policySpan
}

func (p *program) poolSet(complete completion) *cobra.Command {
	f := poolChanges{reuseAfter: policySpan{clearable: true}}
	cmd := &cobra.Command{
		Use:   "set NAME [--class CLASS]... [--reuse-after DURATION] ...",
		Short: "Change what is given of a pool: the classes it backs, its bounds, what it withholds",
		Long: `Changes what is given and leaves the rest; 'none' gives a field its default. The classes that are given stand in the place of
those that the pool backs now, and so do the parts that are withheld (--reserve, as 'ipamctl pool create --help' has them) and the
regions that serve it, of which its home is always one; a region that holds blocks cannot be left out. New bounds hold for what is carved from now on; what is held stays. Where the pool was carved never changes.`,
		Example: `  ipamctl pool set prod-eu --class standard --class clusters
  ipamctl pool set prod-eu --class none --reuse-after 1d
  ipamctl pool set global --regions eu,us,ap`,
		Args:              refs("pool", 1, 1),
		ValidArgsFunction: complete,
		SuggestFor:        wordsForSet,
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		m, err := f.patch(cmd)
		if err != nil {
			return err
		}
		return set(ctx, p, poolView(), p.inProject, cmd, m, args[0], func(ctx context.Context, r resource, doc []byte) (*http.Response, error) {
			return r.api.PatchPoolWithApplicationMergePatchPlusJSONBody(ctx, r.project, r.name,
				&client.PatchPoolParams{DryRun: f.dry(), IfMatch: f.etag()}, doc)
		})
	})
	f.add(p, cmd)
	return cmd
}

func (f *poolChanges) add(p *program, cmd *cobra.Command) {
	f.changing.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.classes, "class", nil, "back this `CLASS` (repeatable), or none")
	flags.Var(&f.reuseAfter, "reuse-after", "how long nobody gets a released block, unless a class says otherwise: 10m, 72h, 3d, or none")
	clearableFlag(cmd, &f.strategy, "strategy", "how places in the pool are chosen", text(client.AllocationStrategyBestFit,
		client.AllocationStrategyFirstFit, client.AllocationStrategyRandom, client.AllocationStrategySparse)...)
	flags.Var(&f.least, "min-prefix-length", "the largest block that may be carved from it, or none")
	flags.Var(&f.most, "max-prefix-length", "the smallest block that may be carved from it, or none")
	flags.Var(&f.preset, "default-prefix-length", "what a claim without a length gets, or none")
	clearableFlag(cmd, &f.visibility, "visibility", "which projects may use it", text(client.PoolVisibilityConsumer,
		client.PoolVisibilityShared, client.PoolVisibilityPlatform)...)
	flags.StringVar(&f.description, "description", "", "`TEXT`: what it is for")
	flags.StringArrayVar(&f.reserve, "reserve", nil, "withhold this `PART` (repeatable), or none")
	flags.StringSliceVar(&f.regions, "regions", nil, "serve it in these `REGIONS`, its home among them, or none: at home alone")
	completeFlag(cmd, "class", p.completeClasses())
	completeFlag(cmd, "regions", p.completeRegions())
}

// patch is what was given.
func (f *poolChanges) patch(cmd *cobra.Command) (mergePatch, error) {
	m := f.from(cmd.Flags())
	classes, err := classNames(f.classes)
	if err != nil {
		return m, err
	}
	reservations := []client.Reservation{}
	if len(f.reserve) != 1 || f.reserve[0] != none {
		if reservations, err = parseReservations(f.reserve); err != nil {
			return m, err
		}
	}
	var regions any // none gives the default back
	switch {
	case len(f.regions) == 0 && cmd.Flags().Changed("regions"):
		return m, usagef("--regions names regions, or none: at home alone")
	case len(f.regions) != 1 || f.regions[0] != none:
		if regions, err = regionNames(f.regions); err != nil {
			return m, err
		}
	}
	m.put("class", classes, "spec", "classNames")
	m.put("regions", regions, "spec", "regions")
	m.put("reserve", reservations, "spec", "reservations")
	m.put("reuse-after", orNull(f.reuseAfter.text), "spec", "reuseAfter")
	m.put("strategy", orNull(f.strategy), "spec", "allocation", "strategy")
	m.put("min-prefix-length", f.least.value(), "spec", "allocation", "minPrefixLength")
	m.put("max-prefix-length", f.most.value(), "spec", "allocation", "maxPrefixLength")
	m.put("default-prefix-length", f.preset.value(), "spec", "allocation", "defaultPrefixLength")
	m.put("visibility", orNull(f.visibility), "spec", "visibility")
	m.put("description", f.description, "spec", "description")
	return m, nil
}

// classNames checks the classes of a pool; a lone none is an empty list.
func classNames(given []string) ([]client.Name, error) {
	out := []client.Name{}
	if len(given) == 1 && given[0] == none {
		return out, nil
	}
	for _, name := range given {
		if err := checkName("class", name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}
