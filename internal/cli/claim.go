package cli

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) claims() kind[client.IPClaim] {
	return kind[client.IPClaim]{p: p, view: claimView(), home: p.homeOf("claims"), fields: append(labelFields(), claimFields()...)}
}

func (p *program) claimCommand() *cobra.Command {
	k := p.claims()
	filters := []filter{
		selectorFilter("claims"),
		{"phase", "phase", "only claims in this phase", oneOf(client.IPClaimPhaseBound, client.IPClaimPhasePending,
			client.IPClaimPhaseReleasing, client.IPClaimPhaseError), nil},
		familyFilter("blocks"), poolFilter(), classFilter("only what this `CLASS` served"),
	}
	return group("claim", "Requests for one block each; the answer holds the block", []string{"claims"},
		claimCreate(k),
		claimPut(k),
		k.setVerb(&cobra.Command{
			Use:   "set NAME [--label KEY=VALUE]... [--reclaim-policy POLICY] ...",
			Short: "Change the labels and annotations of a claim, and what becomes of its block",
			Long: `Changes what is given and leaves the rest. 'none' as a policy is the default one. The block of a claim never changes, nor does
what was asked for: 'ipamctl claim delete' gives it back.`,
			Example: `  ipamctl claim set web --label team=shop --label old-
  ipamctl claim set vip --reclaim-policy Retain`,
		}, creation{}),
		p.claimBatch(),
		p.claimExplain(),
		k.listVerb("Lists the claims of the project, in order of name, or with --pool in order of address. Filters add up.",
			slices.Concat(filters, placeFilters())...),
		k.getVerb(),
		k.showVerb(),
		k.deleteVerb(removal{
			left: blockKept,
			long: "Gives the blocks of claims back, at once or after the cool-down of their class or pool; with --reclaim-policy Retain\ntheir allocations keep them.",
		}),
	)
}

// blockKept says of a claim whose block will be kept which block it is and by which allocation, by the name that --allocation takes.
func blockKept(ctx context.Context, s *session, name string, dry bool) (string, error) {
	found, err := s.ask(ctx, get(s.in("claims", name)...))
	if err != nil {
		return "", err
	}
	claims, err := decode[client.IPClaim]([]json.RawMessage{found.body})
	if err != nil || claims[0].Status.ReclaimPolicy != client.ReclaimPolicyRetain {
		return "", err
	}
	verb, is := "is", claims[0].Status
	if dry {
		verb = "would be"
	}
	return "; " + is.AllocatedCIDR + " " + verb + " retained as allocation " + refText(&is.AllocationRef, s.project), nil
}

func claimView() view[client.IPClaim] {
	type T = client.IPClaim
	return view[T]{
		kind: "claim",
		name: func(t T) string { return t.Metadata.Name },
		cidr: func(t T) string { return t.Status.AllocatedCIDR },
		more: []column[T]{
			{title: "PROJECT", cell: func(t T) string { return t.Metadata.Project }},
			{title: "ANNOTATIONS", cell: func(t T) string { return joinPairs(t.Metadata.Annotations) }},
		},
		columns: append([]column[T]{
			{title: "NAME", cell: func(t T) string { return t.Metadata.Name }},
			{title: "CIDR", cell: func(t T) string { return t.Status.AllocatedCIDR }},
			{title: "POOL", cell: func(t T) string { return refText(&t.Status.PoolRef, t.Metadata.Project) }},
			{title: "CLASS", cell: func(t T) string { return classText(t.Status.ClassProject, t.Status.ClassName, t.Metadata.Project) }},
			{title: "PHASE", cell: func(t T) string { return string(t.Status.Phase) }},
			{title: "RECLAIM", cell: func(t T) string { return string(t.Status.ReclaimPolicy) }},
			{title: "SCOPE", wide: true, cell: func(t T) string { return joinPairs(t.Spec.Scope) }},
			{title: "OWNER", wide: true, cell: func(t T) string { return ownerText(t.Spec.OwnerRef) }},
			{title: "ALLOCATION", wide: true, cell: func(t T) string { return refText(&t.Status.AllocationRef, t.Metadata.Project) }},
			{title: "REGION", wide: true, cell: func(t T) string { return t.Metadata.Region }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}
