package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/carve-ipam/carve/client"
)

// claimFields are what is asked for: where to take it from, and what.
func claimFields() []field {
	return []field{
		{
			flag: "class", path: "spec.className", value: strictly(nameOf("class")), complete: (*program).completeClasses,
			create: "by this `CLASS` of the project, or of platform (default: the default class of the family)",
		},
		{
			flag: "scope", path: "spec.scope", value: pairsOf,
			create: "value of a role that the class asks for, as `role=value` (repeatable)",
		},
		{
			flag: "pool", path: "spec.poolRef", value: strictly(refOf), complete: (*program).completePools,
			create: "take it from this `POOL` and no other, name or project/name",
		},
		{
			flag: "selector", short: "l", path: "spec.poolSelector", value: strictly(readBy(parseSelector)),
			create: "take it from the first pool that has room and such `LABELS`: 'a=b,c!=d,e in (f,g),!h' (deprecated: use --class)",
		},
		{
			flag: "allocation", path: "spec.allocationRef", value: strictly(readBy(parseAllocation)),
			create: "bind this retained allocation again; its name is a `UUID`, alone or as project/UUID",
		},
		{flag: "prefix-length", path: "spec.prefixLength", value: bits, create: "length of the block (default: that of the class, or of the pool)"},
		{flag: "cidr", path: "spec.cidr", value: text, create: "this very block, a `CIDR`"},
		{flag: "address", path: "spec.address", value: text, create: "this very `ADDRESS`"},
		{flag: "family", path: "spec.ipFamily", value: familyText, create: "only classes and pools of this address family: IPv4, IPv6"},
		{flag: "reclaim-policy", path: "spec.reclaimPolicy", value: reclaims, usage: "what becomes of the block when the claim is deleted"},
		{flag: "owner", path: "spec.ownerRef", value: readBy(parseOwner), create: "your object that it is for, as `kind/name/uid`"},
	}
}

// checkClaim judges what flags mean together.
func checkClaim(cmd *cobra.Command) error {
	elsewhere := howMany(cmd, "pool", "selector", "allocation")
	switch {
	case elsewhere+howMany(cmd, "class") > 1:
		return usagef("from where? Give one of --class, --pool, --selector and --allocation, or none of them for the default class")
	case elsewhere > 0 && said(cmd, "scope") != "":
		return usagef("--scope is about classes: it has no meaning with --pool, --selector and --allocation")
	case howMany(cmd, "prefix-length", "cidr", "address") > 1:
		return usagef("give one of --prefix-length, --cidr and --address: each says how large the block is")
	default:
		return nil
	}
}

// parseAllocation reads the name of an allocation, a UUID, alone or as columns print it: project/UUID, of the project whose pool it is in.
func parseAllocation(s string) (any, error) {
	project, name, foreign := strings.Cut(s, "/")
	if !foreign {
		project, name = "", s
	}
	if !nameRE.MatchString(name) || foreign && !nameRE.MatchString(project) {
		return nil, usagef("--allocation is the name of an allocation, a UUID or project/UUID, not %q", s)
	}
	return &client.AllocationRef{Project: project, Name: name}, nil
}

// howMany counts the flags that were given, empty ones too.
func howMany(cmd *cobra.Command, flags ...string) int {
	n := 0
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			n++
		}
	}
	return n
}

// parseOwner reads kind/name/uid, of which the later ones may be missing. A uid may hold slashes, the others may not.
func parseOwner(s string) (any, error) {
	parts := append(strings.SplitN(s, "/", 3), "", "")
	return &client.OwnerRef{Kind: parts[0], Name: parts[1], UID: parts[2]}, nil
}

// parseSelector reads a selector in the syntax of Kubernetes, with its own parser, and writes it in the shape of the API.
// Ordering (a>1) is part of the syntax and not of the contract.
func parseSelector(text string) (any, error) {
	requirements, err := labels.ParseToRequirements(text)
	if err != nil {
		return nil, usagef("--selector: %v", err)
	}
	out := &client.LabelSelector{} //nolint:staticcheck // deprecated for callers, and served on
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
