package kinds

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// classFields returns the fields of a class.
func classFields() []verbs.Field {
	return append(verbs.LabelFields(), []verbs.Field{
		verbs.Description(),
		{Flag: "family", Path: "spec.ipFamily", Value: verbs.FamilyText, Create: "address family of the blocks: IPv4, IPv6"},
		{Flag: "strategy", Path: "spec.strategy", Value: verbs.Strategies, Usage: "strategy that chooses blocks in a pool"},
		{
			Flag: "pool-selection", Path: "spec.poolSelection", Usage: "order in which pools are tried",
			Value: verbs.OneOf(client.PoolSelectionFirstFit, client.PoolSelectionLeastUtilized),
		},
		{Flag: "reclaim-policy", Path: "spec.reclaimPolicy", Value: verbs.Reclaims, Usage: "policy for the block of a deleted claim"},
		{
			Flag: "visibility", Path: "spec.visibility", Usage: "projects that may use it",
			Value: verbs.OneOf(client.ClassVisibilityConsumer, client.ClassVisibilityShared, client.ClassVisibilityPlatform),
		},
		{
			Flag: "min-prefix-length", Path: "spec.allowedPrefixLengths.min", Value: verbs.Bits,
			Create: "prefix length of the largest block of a claim (default: the pools' limit)", Set: "prefix length of the largest block of a claim, or none",
		},
		{
			Flag: "max-prefix-length", Path: "spec.allowedPrefixLengths.max", Value: verbs.Bits,
			Create: "prefix length of the smallest block of a claim (default: the pools' limit)", Set: "prefix length of the smallest block of a claim, or none",
		},
		{
			Flag: "default-prefix-length", Path: "spec.defaultPrefixLength", Value: verbs.Bits,
			Create: "prefix length for claims without one (default: the pool's default)", Set: "prefix length for claims without one, or none",
		},
		{
			Flag: "reuse-after", Path: "spec.reuseAfter", Value: verbs.Policy,
			Create: "cool-down of a released block before reuse: 10m, 72h, 3d, 0s", Set: "cool-down of a released block before reuse: 10m, 72h, 3d, 0s, or none",
		},
		{
			Flag: "empty-pool-ttl", Path: "spec.emptyPoolTTL", Value: verbs.Policy,
			Create: "with --pool-per: time until an empty pool is deleted", Set: "with --pool-per: time until an empty pool is deleted, or none",
		},
		{Flag: "default", Path: "spec.isDefault", Value: verbs.YesOrNo, Usage: "serve claims of its family without a class or another source"},
		{
			Flag: "pool-per", Path: "spec.poolPer", Value: verbs.ListOf(true, nil, func(_ string, roles []string) (any, error) { return roles, nil }),
			Create: "`ROLES` with a separate pool for each value: project, or project and others, as in project,cluster",
		},
		{
			Flag: "unique-within", Path: "spec.uniqueWithin", Create: "scope in which the blocks of its claims never overlap",
			Value: verbs.OneOf(client.UniqueWithinSpace, client.UniqueWithinClass),
		},
		{Flag: "pool-prefix-length", Path: "spec.poolPrefixLength", Value: verbs.Bits, Create: "with --pool-per: prefix length of each of these pools"},
		{
			Flag: "parameter", Path: "spec.parameters", Value: verbs.PairsOf, Create: "text for the provisioner and for people (repeatable)",
			Set: "parameter to set, or key- to remove one (repeatable)",
		},
	}...)
}

func classCreate(p *session.Program) *cobra.Command {
	return movable(func(c verbs.Creation) *cobra.Command {
		c.Check = checkNewClass
		return Classes(p).CreateVerb(&cobra.Command{
			Use:   "create NAME --family FAMILY",
			Short: "Create a class: a policy for allocating blocks of a family",
			Long: `Creates a policy for allocating blocks: the allowed lengths, the strategy, the order of pools, and the policy for blocks of deleted
claims. It serves no claims before a pool lists it ('ipamctl pool create --class', 'ipamctl pool set --class').

With --default it also serves claims without a class or another source. With --pool-per claims do not come directly from the pools that
list it: each project, and in it each combination of the other roles (--scope of a claim), gets a separate pool of
--pool-prefix-length. The first claim carves it.`,
			Example: `  ipamctl class create standard --family ipv4 --default-prefix-length 28 --min-prefix-length 24 --default
  ipamctl class create clusters --family ipv4 --pool-per project,cluster --pool-prefix-length 20 --default-prefix-length 26
  ipamctl class create slow --family 6 --reuse-after 3d --pool-selection LeastUtilized`,
		}, c)
	})
}

func classPut(p *session.Program) *cobra.Command {
	return movable(func(c verbs.Creation) *cobra.Command {
		c.Check = checkNewClass
		return putVerb(Classes(p), func(t client.IPClass) client.Metadata { return t.Metadata }, &cobra.Command{
			Use:     "put NAME --family FAMILY",
			Example: "  ipamctl class put standard --family ipv4 --default-prefix-length 28 --min-prefix-length 24 --default",
		}, c)
	})
}

func classSet(p *session.Program) *cobra.Command {
	return movable(func(c verbs.Creation) *cobra.Command {
		return Classes(p).SetVerb(&cobra.Command{
			Use:   "set NAME [--default] [--default-prefix-length N] [--reuse-after DURATION] ...",
			Short: "Change the given fields of a class",
			Long: `Changes the given fields only; 'none' restores a default. Changes apply to later claims; existing claims stay as they are.
The family, --pool-per and --pool-prefix-length never change.`,
			Example: `  ipamctl class set standard --default-prefix-length 26 --max-prefix-length none
  ipamctl class set gold --default --move-default
  ipamctl class set standard --label tier=gold --label old-`,
		}, c)
	})
}

// movable adds the flag --move-default to a command. With this flag, the class becomes the default, and the old default class no longer is.
func movable(verb func(c verbs.Creation) *cobra.Command) *cobra.Command {
	cmd := verb(verbs.Creation{Check: checkMove, Query: func(cmd *cobra.Command) session.Query {
		if verbs.Said(cmd, "move-default") != "true" {
			return nil
		}
		return session.Query{"moveDefault=true"}
	}})
	cmd.Flags().Bool("move-default", false, "with --default: remove the default from the class that has it now")
	cmd.Flags().SetNormalizeFunc(classFlagNames)
	return cmd
}

func checkMove(cmd *cobra.Command) error {
	if verbs.Said(cmd, "move-default") == "true" && verbs.Said(cmd, "default") != "true" {
		return exit.Usagef("--move-default needs --default: it makes this class the default in place of another one")
	}
	return nil
}

// classFlagNames accepts short forms of flags and the names that the contract uses.
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

// roleRE matches a role as the contract defines it.
var roleRE = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// checkNewClass checks all flags of a new class.
func checkNewClass(cmd *cobra.Command) error {
	if err := checkMove(cmd); err != nil {
		return err
	}
	return checkClass(cmd)
}

// checkClass checks the flags of a new class together.
func checkClass(cmd *cobra.Command) error {
	per, err := cmd.Flags().GetStringSlice("pool-per")
	length := verbs.Said(cmd, "pool-prefix-length")
	switch {
	case err != nil:
		return err
	case verbs.Said(cmd, "family") == "":
		return exit.Usagef("a class needs an address family: give --family")
	case len(per) == 0 && length != "":
		return exit.Usagef("--pool-prefix-length needs --pool-per: it sets the length of the pools for scopes")
	case len(per) == 0 && verbs.Said(cmd, "empty-pool-ttl") != "":
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
