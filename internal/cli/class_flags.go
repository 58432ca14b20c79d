package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
)

// classPolicy are the flags of what can change about a class: those of `create` and `set`.
type classPolicy struct {
	strategy, reclaim, visibility, selection, description string
	least, most, preset                                   clearLength
	reuseAfter, emptyTTL                                  policySpan
	asDefault, moveDefault                                bool
}

// add adds the flags; clearable says that `none` gives a field its default.
func (f *classPolicy) add(cmd *cobra.Command, clearable bool) {
	flags := cmd.Flags()
	flags.SetNormalizeFunc(classFlagNames)
	word := choiceFlag[string]
	if clearable {
		word = clearableFlag[string]
	}
	word(cmd, &f.strategy, "strategy", "how places in a pool are chosen", text(client.AllocationStrategyBestFit,
		client.AllocationStrategyFirstFit, client.AllocationStrategyRandom, client.AllocationStrategySparse)...)
	word(cmd, &f.selection, "pool-selection", "which pool is tried first", text(client.PoolSelectionFirstFit, client.PoolSelectionLeastUtilized)...)
	word(cmd, &f.reclaim, "reclaim-policy", "what becomes of a block when its claim is deleted",
		text(client.ReclaimPolicyDelete, client.ReclaimPolicyRetain)...)
	word(cmd, &f.visibility, "visibility", "whom it serves", text(client.ClassVisibilityConsumer, client.ClassVisibilityShared,
		client.ClassVisibilityPlatform)...)
	f.reuseAfter.clearable, f.emptyTTL.clearable = clearable, clearable
	also := ""
	if clearable {
		flags.Var(&f.least, "min-prefix-length", "the largest block that may be claimed, or none")
		flags.Var(&f.most, "max-prefix-length", "the smallest block that may be claimed, or none")
		flags.Var(&f.preset, "default-prefix-length", "what a claim without a length gets, or none")
		also = ", or none"
	} else {
		flags.Var(&f.least.length, "min-prefix-length", "the largest block that may be claimed (default: what the pools allow)")
		flags.Var(&f.most.length, "max-prefix-length", "the smallest block that may be claimed (default: what the pools allow)")
		flags.Var(&f.preset.length, "default-prefix-length", "what a claim without a length gets (default: what the pool says)")
	}
	flags.Var(&f.reuseAfter, "reuse-after", "how long nobody gets a released block: 10m, 72h, 3d, 0s"+also)
	flags.Var(&f.emptyTTL, "empty-pool-ttl", "with --pool-per: after how long an empty pool is deleted"+also)
	flags.BoolVar(&f.asDefault, "default", false, "serve claims of its family that name nothing")
	flags.BoolVar(&f.moveDefault, "move-default", false, "with --default: take it off the class that has it")
	flags.StringVar(&f.description, "description", "", "`TEXT`: what it is for")
}

// text are words of the contract as they are typed.
func text[T ~string](of ...T) []string {
	out := make([]string, len(of))
	for i, w := range of {
		out[i] = string(w)
	}
	return out
}

// classFlagNames lets flags be said in short, and as the contract says them.
func classFlagNames(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "ip-family":
		name = "family"
	case "min-length", "max-length", "default-length", "pool-length":
		name = strings.Replace(name, "-length", "-prefix-length", 1)
	case "is-default":
		name = "default"
	}
	return pflag.NormalizedName(name)
}

// moving is the parameter, absent unless it is asked for.
func (f *classPolicy) moving() (*client.MoveDefault, error) {
	switch {
	case !f.moveDefault:
		return nil, nil
	case !f.asDefault:
		return nil, usagef("--move-default is about --default: it makes this class the default instead of the one that is")
	default:
		return &f.moveDefault, nil
	}
}

// spec is what a new class is made of.
func (f *classPolicy) spec(cmd *cobra.Command) client.IPClassSpec {
	s := client.IPClassSpec{
		Visibility: client.ClassVisibility(f.visibility), Strategy: client.AllocationStrategy(f.strategy),
		DefaultPrefixLength: f.preset.bits, ReclaimPolicy: client.ReclaimPolicy(f.reclaim), ReuseAfter: f.reuseAfter.text,
		PoolSelection: client.PoolSelection(f.selection), EmptyPoolTTL: f.emptyTTL.text, Description: f.description,
	}
	if cmd.Flags().Changed("default") {
		s.IsDefault = &f.asDefault
	}
	if f.least.bits != nil || f.most.bits != nil {
		s.AllowedPrefixLengths = &client.ClassPrefixLengths{Min: f.least.bits, Max: f.most.bits}
	}
	return s
}
