package kinds

import (
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// classFields returns a class's fields.
func classFields() []verbs.Field {
	return append(verbs.Described[:3:3], []verbs.Field{
		{Flag: "family", Path: "spec.ipFamily", Create: "address family of the blocks: IPv4, IPv6"},
		{Flag: "strategy", Words: strategies, Usage: "strategy that chooses blocks in a pool"},
		{Flag: "pool-selection", Words: "FirstFit LeastUtilized", Usage: "order in which pools are tried"},
		{Flag: "reclaim-policy", Words: reclaims, Usage: "policy for the block of a deleted claim"},
		{Flag: "visibility", Words: "consumer shared platform", Usage: "projects that may use it"},
		{
			Flag: "min-prefix-length", Path: "spec.allowedPrefixLengths.min",
			Create: "prefix length of the largest block of a claim (default: the pools' limit)", Set: "prefix length of the largest block of a claim, or none",
		},
		{
			Flag: "max-prefix-length", Path: "spec.allowedPrefixLengths.max",
			Create: "prefix length of the smallest block of a claim (default: the pools' limit)", Set: "prefix length of the smallest block of a claim, or none",
		},
		{
			Flag:   "default-prefix-length",
			Create: "prefix length for claims without one (default: the pool's default)", Set: "prefix length for claims without one, or none",
		},
		{
			Flag: "reuse-after", Value: verbs.Policy,
			Create: "cool-down of a released block before reuse: 10m, 72h, 3d, 0s", Set: "cool-down of a released block before reuse: 10m, 72h, 3d, 0s, or none",
		},
		{
			Flag: "empty-pool-ttl", Path: "spec.emptyPoolTTL", Value: verbs.Policy,
			Create: "with --pool-per: time until an empty pool is deleted", Set: "with --pool-per: time until an empty pool is deleted, or none",
		},
		{Flag: "default", Path: "spec.isDefault", Usage: "serve claims of its family without a class or another source"},
		{
			Flag: "pool-per", Value: verbs.ListOf(true, nil, verbs.AnyTexts),
			Create: "`ROLES` with a separate pool for each value: project, or project and others, as in project,cluster",
		},
		{Flag: "unique-within", Words: "Space Class", Create: "scope in which the blocks of its claims never overlap"},
		{Flag: "pool-prefix-length", Create: "with --pool-per: prefix length of each of these pools"},
		{
			Flag: "parameter", Path: "spec.parameters", Create: "text for the provisioner and for people (repeatable)",
			Set: "parameter to set, or key- to remove one (repeatable)",
		},
	}...)
}

// roleRE matches a role as the contract defines it.
var roleRE = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// checkNewClass refuses contradictions between a new class's flags.
func checkNewClass(cmd *cobra.Command) error {
	if err := checkMove(cmd); err != nil {
		return err
	}
	per, err := cmd.Flags().GetStringSlice("pool-per")
	length := verbs.FlagText(cmd, "pool-prefix-length")
	switch {
	case err != nil:
		return err
	case verbs.FlagText(cmd, "family") == "":
		return exit.Usagef("a class needs an address family: give --family")
	case len(per) == 0 && length != "":
		return exit.Usagef("--pool-prefix-length needs --pool-per: it sets the length of the pools for scopes")
	case len(per) == 0 && verbs.FlagText(cmd, "empty-pool-ttl") != "":
		return exit.Usagef("--empty-pool-ttl needs --pool-per: it applies to the pools for scopes")
	case len(per) > 0 && per[0] != "project":
		return exit.Usagef("--pool-per must start with project: two projects never share such a pool")
	case len(per) > 0 && length == "":
		return exit.Usagef("--pool-per needs --pool-prefix-length, the length of each of these pools")
	}
	for i, role := range per {
		if !roleRE.MatchString(role) || slices.Contains(per[:i], role) {
			return exit.Usagef("--pool-per: %q is not a role, or is given twice", role)
		}
	}
	return nil
}
