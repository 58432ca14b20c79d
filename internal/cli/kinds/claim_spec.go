package kinds

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// claimFields returns a claim's fields. They select the source of its block, and the block or its size.
func claimFields() []verbs.Field {
	return append([]verbs.Field{
		{
			Flag: "class", Path: "spec.className", Value: verbs.Strictly(verbs.NameOf("class")), Complete: verbs.CompleteClasses,
			Create: "`CLASS` of the project, or of platform (default: the default class of the family)",
		},
		{Flag: "scope", Create: "value of a role that the class requires, as `role=value` (repeatable)"},
		{
			Flag: "pool", Path: "spec.poolRef", Value: verbs.Strictly(verbs.RefOf), Complete: verbs.CompletePools,
			Create: "take the block only from this `POOL`, name or project/name",
		},
		{
			Flag: "selector", Short: "l", Path: "spec.poolSelector", Value: verbs.Strictly(verbs.ReadBy(parseSelector)),
			Create: "take the block from the first pool with space and these `LABELS`: 'a=b,c!=d,e in (f,g),!h' (deprecated: use --class)",
		},
		{
			Flag: "allocation", Path: "spec.allocationRef", Value: verbs.Strictly(verbs.ReadBy(parseAllocation)),
			Create: "bind this retained allocation again: its name, a `UUID`, alone or as project/UUID",
		},
		{Flag: "prefix-length", Create: "prefix length of the block (default: the default length of the class or the pool)"},
		{Flag: "cidr", Value: verbs.Strictly(verbs.ReadBy(given("cidr"))), Create: "claim exactly this `CIDR`"},
		{Flag: "address", Value: verbs.Strictly(verbs.ReadBy(given("address"))), Create: "claim exactly this `ADDRESS`"},
		{Flag: "family", Path: "spec.ipFamily", Create: "only classes and pools of this address family: IPv4, IPv6"},
		{Flag: "reclaim-policy", Words: reclaims, Usage: "policy for the block of a deleted claim"},
		{Flag: "owner", Path: "spec.ownerRef", Value: verbs.ReadBy(parseOwner), Create: "the object in your own system that uses the claim, as `kind/name/uid`"},
	}, consumerFields()...)
}

// given returns a parser that refuses an empty text. If ipamctl sent an empty text, the server would choose any block.
func given(flag string) func(string) (any, error) {
	return func(text string) (any, error) {
		if text == "" {
			return nil, exit.Usagef("--%s is empty: give it a value, or omit it", flag)
		}
		return text, nil
	}
}

// checkClaim refuses flags that contradict each other.
func checkClaim(cmd *cobra.Command) error {
	elsewhere := howMany(cmd, "pool", "selector", "allocation")
	switch {
	case elsewhere+howMany(cmd, "class") > 1:
		return exit.Usagef("more than one source is given: use one of --class, --pool, --selector and --allocation, or none of them for the default class")
	case elsewhere > 0 && verbs.FlagText(cmd, "scope") != "":
		return exit.Usagef("--scope works with classes only: omit --pool, --selector and --allocation")
	case howMany(cmd, "prefix-length", "cidr", "address") > 1:
		return exit.Usagef("give only one of --prefix-length, --cidr and --address: each sets the size of the block")
	default:
		return checkConsumers(cmd)
	}
}

// parseAllocation parses an allocation's name as tables print it: a UUID, or project/UUID with the pool's project.
func parseAllocation(text string) (any, error) {
	if session.CheckRef("", text) != nil {
		return nil, exit.Usagef("--allocation must be the name of an allocation, a UUID or project/UUID, not %q", text)
	}
	return verbs.ParseRef(text), nil
}

// howMany counts the flags that the user has set, including flags with an empty value.
func howMany(cmd *cobra.Command, flags ...string) int {
	n := 0
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			n++
		}
	}
	return n
}

// parseOwner parses an owner as kind/name/uid. The later parts may be missing. Only the uid may contain slashes.
func parseOwner(s string) (any, error) {
	parts := append(strings.SplitN(s, "/", 3), "", "")
	return &client.OwnerRef{Kind: parts[0], Name: parts[1], UID: parts[2]}, nil
}

// parseSelector parses a label selector with Kubernetes' parser and returns it in the API's form. The contract does not support comparisons by
// size (a>1).
func parseSelector(text string) (any, error) {
	requirements, err := labels.ParseToRequirements(text)
	if err != nil {
		return nil, exit.Usagef("--selector: %v", err)
	}
	out := &client.LabelSelector{MatchLabels: client.Labels{}} //nolint:staticcheck // deprecated, but the server still supports it
	for _, r := range requirements {
		operator, known := selectorOperators[r.Operator()]
		if !known {
			return nil, exit.Usagef("--selector: %q compares numbers, but labels are words", r.String())
		}
		values := r.ValuesUnsorted()
		if _, twice := out.MatchLabels[r.Key()]; !twice && (r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals) {
			out.MatchLabels[r.Key()] = values[0]
			continue
		}
		out.MatchExpressions = append(out.MatchExpressions, client.LabelSelectorRequirement{Key: r.Key(), Operator: operator, Values: values})
	}
	return out, nil
}

// selectorOperators has the contract's operator for each of Kubernetes. It has none for comparisons by size.
var selectorOperators = map[selection.Operator]client.LabelSelectorOperator{
	selection.Equals: client.LabelSelectorOperatorIn, selection.DoubleEquals: client.LabelSelectorOperatorIn, selection.In: client.LabelSelectorOperatorIn,
	selection.NotEquals: client.LabelSelectorOperatorNotIn, selection.NotIn: client.LabelSelectorOperatorNotIn,
	selection.Exists: client.LabelSelectorOperatorExists, selection.DoesNotExist: client.LabelSelectorOperatorDoesNotExist,
}
