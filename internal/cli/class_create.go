package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
)

// classFields are what a class is made of, and what can change about it.
func classFields() []field {
	return append(labelFields(), []field{
		description(),
		{flag: "family", path: "spec.ipFamily", value: familyText, create: "address family of the blocks: IPv4, IPv6"},
		{flag: "strategy", path: "spec.strategy", value: strategies, usage: "how places in a pool are chosen"},
		{
			flag: "pool-selection", path: "spec.poolSelection", usage: "which pool is tried first",
			value: oneOf(client.PoolSelectionFirstFit, client.PoolSelectionLeastUtilized),
		},
		{flag: "reclaim-policy", path: "spec.reclaimPolicy", value: reclaims, usage: "what becomes of a block when its claim is deleted"},
		{
			flag: "visibility", path: "spec.visibility", usage: "whom it serves",
			value: oneOf(client.ClassVisibilityConsumer, client.ClassVisibilityShared, client.ClassVisibilityPlatform),
		},
		{
			flag: "min-prefix-length", path: "spec.allowedPrefixLengths.min", value: bits,
			create: "the largest block that may be claimed (default: what the pools allow)", set: "the largest block that may be claimed, or none",
		},
		{
			flag: "max-prefix-length", path: "spec.allowedPrefixLengths.max", value: bits,
			create: "the smallest block that may be claimed (default: what the pools allow)", set: "the smallest block that may be claimed, or none",
		},
		{
			flag: "default-prefix-length", path: "spec.defaultPrefixLength", value: bits,
			create: "what a claim without a length gets (default: what the pool says)", set: "what a claim without a length gets, or none",
		},
		{
			flag: "reuse-after", path: "spec.reuseAfter", value: policy,
			create: "how long nobody gets a released block: 10m, 72h, 3d, 0s", set: "how long nobody gets a released block: 10m, 72h, 3d, 0s, or none",
		},
		{
			flag: "empty-pool-ttl", path: "spec.emptyPoolTTL", value: policy,
			create: "with --pool-per: after how long an empty pool is deleted", set: "with --pool-per: after how long an empty pool is deleted, or none",
		},
		{flag: "default", path: "spec.isDefault", value: yesOrNo, usage: "serve claims of its family that name nothing"},
		{
			flag: "pool-per", path: "spec.poolPer", value: listOf(true, nil, func(_ string, roles []string) (any, error) { return roles, nil }),
			create: "`ROLES` that have a pool of their own: project, or project and others, as in project,cluster",
		},
		{flag: "pool-prefix-length", path: "spec.poolPrefixLength", value: bits, create: "with --pool-per: length of each such pool"},
		{
			flag: "parameter", path: "spec.parameters", value: pairsOf, create: "text for the provisioner and for people (repeatable)",
			set: "parameter to set, or with a dash behind its key to take away (repeatable)",
		},
	}...)
}

func (p *program) classCreate() *cobra.Command {
	return movable(func(c creation) *cobra.Command {
		c.check = func(cmd *cobra.Command) error {
			if err := checkMove(cmd); err != nil {
				return err
			}
			return checkClass(cmd)
		}
		return p.classes().createVerb(&cobra.Command{
			Use:   "create NAME --family FAMILY",
			Short: "Make a class: how blocks of a family are handed out to who names it",
			Long: `Makes a policy for handing out blocks: which lengths, how they are placed, which pools are tried, what becomes of a block when
its claim is deleted. It serves nobody before a pool lists it ('ipamctl pool create --class', 'ipamctl pool set --class').

With --default it also serves claims that name nothing. With --pool-per claims do not draw from the pools that list it: each
project, and in it each combination of the other roles (--scope of a claim), has a pool of --pool-prefix-length of its own, which the
first claim carves.`,
			Example: `  ipamctl class create standard --family ipv4 --default-prefix-length 28 --min-prefix-length 24 --default
  ipamctl class create clusters --family ipv4 --pool-per project,cluster --pool-prefix-length 20 --default-prefix-length 26
  ipamctl class create slow --family 6 --reuse-after 3d --pool-selection LeastUtilized`,
		}, c)
	})
}

func (p *program) classSet() *cobra.Command {
	return movable(func(c creation) *cobra.Command {
		return p.classes().setVerb(&cobra.Command{
			Use:   "set NAME [--default] [--default-prefix-length N] [--reuse-after DURATION] ...",
			Short: "Change what is given of a class",
			Long: `Changes what is given and leaves the rest; 'none' gives a field its default. What changes holds for later claims: claims that
exist keep what they have. The family, --pool-per and --pool-prefix-length never change.`,
			Example: `  ipamctl class set standard --default-prefix-length 26 --max-prefix-length none
  ipamctl class set gold --default --move-default
  ipamctl class set standard --label tier=gold --label old-`,
		}, c)
	})
}

// movable is a verb that can make a class the default in the place of another one.
func movable(verb func(c creation) *cobra.Command) *cobra.Command {
	cmd := verb(creation{check: checkMove, query: func(cmd *cobra.Command) query {
		if said(cmd, "move-default") != "true" {
			return nil
		}
		return query{"moveDefault=true"}
	}})
	cmd.Flags().Bool("move-default", false, "with --default: take it off the class that has it")
	cmd.Flags().SetNormalizeFunc(classFlagNames)
	return cmd
}

func checkMove(cmd *cobra.Command) error {
	if said(cmd, "move-default") == "true" && said(cmd, "default") != "true" {
		return usagef("--move-default is about --default: it makes this class the default instead of the one that is")
	}
	return nil
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

// roleRE is what the contract calls a role.
var roleRE = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// checkClass judges what the flags of a new class mean together.
func checkClass(cmd *cobra.Command) error {
	per, err := cmd.Flags().GetStringSlice("pool-per")
	length := said(cmd, "pool-prefix-length")
	switch {
	case err != nil:
		return err
	case said(cmd, "family") == "":
		return usagef("of which family? Give --family")
	case len(per) == 0 && length != "":
		return usagef("--pool-prefix-length needs --pool-per: it is the length of the pools that are carved for scopes")
	case len(per) == 0 && said(cmd, "empty-pool-ttl") != "":
		return usagef("--empty-pool-ttl needs --pool-per: it is about the pools that are carved for scopes")
	case len(per) > 0 && per[0] != "project":
		return usagef("--pool-per begins with project: no two projects share such a pool")
	case len(per) > 0 && length == "":
		return usagef("--pool-per needs --pool-prefix-length: how large is each of these pools?")
	}
	for i, role := range per {
		if !roleRE.MatchString(role) || slices.Contains(per[:i], role) {
			return usagef("--pool-per: %q is not a role, or it is there twice", role)
		}
	}
	return nil
}
