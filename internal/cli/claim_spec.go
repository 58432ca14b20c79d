package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/carve-ipam/carve/client"
)

// claimFlags are what is asked for: where to take it from, and what.
type claimFlags struct {
	creating
	class, pool, selector, allocation  string
	scope                              map[string]string
	cidr, address, policy, ownerObject string
	bits                               length
	family                             family
}

func (f *claimFlags) addSpec(p *program, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.class, "class", "", "by this `CLASS` of the project, or of platform (default: the default class of the family)")
	roleFlag(cmd, &f.scope)
	flags.StringVar(&f.pool, "pool", "", "take it from this `POOL` and no other, name or project/name")
	flags.StringVarP(&f.selector, "selector", "l", "", "take it from the first pool that has room and such `LABELS`: 'a=b,c!=d,e in (f,g),!h' (deprecated: use --class)")
	flags.StringVar(&f.allocation, "allocation", "", "bind this retained allocation again; its name is a `UUID`, alone or as project/UUID")
	flags.Var(&f.bits, "prefix-length", "length of the block (default: that of the class, or of the pool)")
	flags.StringVar(&f.cidr, "cidr", "", "this very block, a `CIDR`")
	flags.StringVar(&f.address, "address", "", "this very `ADDRESS`")
	flags.Var(&f.family, "family", "only classes and pools of this address family: IPv4, IPv6")
	choiceFlag(cmd, &f.policy, "reclaim-policy", "what becomes of the block when the claim is deleted",
		client.ReclaimPolicyDelete, client.ReclaimPolicyRetain)
	flags.StringVar(&f.ownerObject, "owner", "", "your object that it is for, as `kind/name/uid`")
	completeFlag(cmd, "pool", p.completePools())
	completeFlag(cmd, "class", p.completeClasses())
}

func (f *claimFlags) spec(cmd *cobra.Command) (client.IPClaimSpec, error) {
	spec := client.IPClaimSpec{
		PrefixLength: f.bits.bits, CIDR: f.cidr, Address: f.address,
		IPFamily: client.IPFamily(f.family), ReclaimPolicy: client.ReclaimPolicy(f.policy), OwnerRef: parseOwner(f.ownerObject), Scope: f.scope,
	}
	switch elsewhere := given(cmd, "pool", "selector", "allocation"); {
	case elsewhere+given(cmd, "class") > 1:
		return spec, usagef("from where? Give one of --class, --pool, --selector and --allocation, or none of them for the default class")
	case elsewhere > 0 && len(f.scope) > 0:
		return spec, usagef("--scope is about classes: it has no meaning with --pool, --selector and --allocation")
	}
	if given(cmd, "prefix-length", "cidr", "address") > 1 {
		return spec, usagef("give one of --prefix-length, --cidr and --address: each says how large the block is")
	}
	var err error
	switch {
	case cmd.Flags().Changed("selector"): // an empty one is every pool
		spec.PoolSelector, err = parseSelector(f.selector)
	case cmd.Flags().Changed("pool"):
		spec.PoolRef, err = parseRef("pool", f.pool)
	case cmd.Flags().Changed("class"):
		spec.ClassName, err = f.class, checkName("class", f.class)
	case !cmd.Flags().Changed("allocation"): // by the default class
	default:
		spec.AllocationRef, err = parseAllocation(f.allocation)
	}
	return spec, err
}

// parseAllocation reads the name of an allocation, a UUID, alone or as columns print it: project/UUID, of the project whose pool it is in.
func parseAllocation(s string) (*client.AllocationRef, error) {
	project, name, foreign := strings.Cut(s, "/")
	if !foreign {
		project, name = "", s
	}
	if !nameRE.MatchString(name) || foreign && !nameRE.MatchString(project) {
		return nil, usagef("--allocation is the name of an allocation, a UUID or project/UUID, not %q", s)
	}
	return &client.AllocationRef{Project: project, Name: name}, nil
}

// given counts the flags that were given, empty ones too.
func given(cmd *cobra.Command, flags ...string) int {
	n := 0
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			n++
		}
	}
	return n
}

// parseOwner reads kind/name/uid, of which the later ones may be missing. A uid may hold slashes, the others may not.
func parseOwner(s string) *client.OwnerRef {
	if s == "" {
		return nil
	}
	parts := append(strings.SplitN(s, "/", 3), "", "")
	return &client.OwnerRef{Kind: parts[0], Name: parts[1], UID: parts[2]}
}

// parseSelector reads a selector in the syntax of Kubernetes, with its own parser, and writes it in the shape of the API.
// Ordering (a>1) is part of the syntax and not of the contract.
func parseSelector(text string) (*client.LabelSelector, error) { //nolint:staticcheck // deprecated for callers, and served on
	requirements, err := labels.ParseToRequirements(text)
	if err != nil {
		return nil, usagef("--selector: %v", err)
	}
	out := &client.LabelSelector{} //nolint:staticcheck // as above
	for _, r := range requirements {
		values := r.ValuesUnsorted()
		e := client.LabelSelectorRequirement{Key: r.Key(), Values: values}
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals:
			if _, twice := out.MatchLabels[r.Key()]; !twice {
				if out.MatchLabels == nil {
					out.MatchLabels = client.Labels{}
				}
				out.MatchLabels[r.Key()] = values[0]
				continue
			}
			e.Operator = client.LabelSelectorOperatorIn
		case selection.In:
			e.Operator = client.LabelSelectorOperatorIn
		case selection.NotIn, selection.NotEquals:
			e.Operator = client.LabelSelectorOperatorNotIn
		case selection.Exists:
			e.Operator, e.Values = client.LabelSelectorOperatorExists, nil
		case selection.DoesNotExist:
			e.Operator, e.Values = client.LabelSelectorOperatorDoesNotExist, nil
		case selection.GreaterThan, selection.LessThan:
			return nil, usagef("--selector: labels are words, %q compares numbers", r.String())
		default:
			return nil, usagef("--selector: cannot read %q", r.String())
		}
		out.MatchExpressions = append(out.MatchExpressions, e)
	}
	return out, nil
}
