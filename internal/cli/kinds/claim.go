package kinds

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func claimKind(p *session.Program) verbs.Kind[client.IPClaim] {
	return verbs.Kind[client.IPClaim]{
		P: p, View: claimView(), Home: verbs.HomeOf(p, "claims"), Fields: append(verbs.LabelFields(), claimFields()...),
		Fed: &verbs.Fed[client.IPClaim]{Kind: client.ChangeKindIPClaim},
	}
}

func claimCommand(p *session.Program) *cobra.Command {
	k := claimKind(p)
	filters := []verbs.Filter{
		verbs.SelectorFilter("claims"),
		verbs.By("phase", "phase", "only claims in this phase", verbs.OneOf(client.IPClaimPhaseBound, client.IPClaimPhasePending,
			client.IPClaimPhaseReleasing, client.IPClaimPhaseError)),
		verbs.FamilyFilter("blocks"), verbs.PoolFilter(), verbs.ClassFilter("only claims of this `CLASS`"),
		verbs.By("owner", "owner", "only claims for this `OWNER` in your own system, kind/name/uid", verbs.Text),
	}
	return verbs.Group("claim", "Claims, each for one block", []string{"claims"},
		claimCreate(k),
		claimPut(k),
		k.SetVerb(&cobra.Command{
			Use:   "set NAME [--label KEY=VALUE]... [--reclaim-policy POLICY] ...",
			Short: "Change the labels, the annotations and the reclaim policy of a claim",
			Long: `Changes the given fields only. 'none' restores the default policy. The block and the requested size of a claim never change;
'ipamctl claim delete' releases the block.`,
			Example: `  ipamctl claim set web --label team=shop --label old-
  ipamctl claim set vip --reclaim-policy Retain`,
		}, verbs.Creation{}),
		claimBatch(p),
		claimExplain(p),
		k.ListVerb("Lists the claims of the project, in order of name, or with --pool and without\n--owner in order of address. A claim must match all filters.",
			slices.Concat(filters, verbs.PlaceFilters())...),
		k.GetVerb(),
		k.ShowVerb(),
		k.DeleteVerb(verbs.Removal{
			Many:  verbs.ByLabels,
			Apart: true,
			Left:  blockKept,
			Long:  "Deletes claims. Their blocks are free at once, or after the cool-down of their class or pool; with the reclaim policy Retain\nthe allocation keeps the block.",
		}),
	)
}

// blockKept returns a phrase about a claim whose block will be retained. It names the block and the name of the allocation, which --allocation needs.
func blockKept(project string, doc json.RawMessage, dry bool) (string, error) {
	claims, err := show.Decode[client.IPClaim]([]json.RawMessage{doc})
	if err != nil || claims[0].Status.ReclaimPolicy != client.ReclaimPolicyRetain {
		return "", err
	}
	verb, is := "is", claims[0].Status
	if dry {
		verb = "would be"
	}
	return "; " + is.AllocatedCIDR + " " + verb + " retained as allocation " + show.RefText(&is.AllocationRef, project), nil
}

func claimView() show.View[client.IPClaim] {
	type T = client.IPClaim
	return show.View[T]{
		Kind: "claim",
		Name: func(t T) string { return t.Metadata.Name },
		Cidr: func(t T) string { return t.Status.AllocatedCIDR },
		More: []show.Column[T]{
			{Title: "PROJECT", Cell: func(t T) string { return t.Metadata.Project }},
			{Title: "ANNOTATIONS", Cell: func(t T) string { return show.JoinPairs(t.Metadata.Annotations) }},
		},
		Columns: append([]show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "CIDR", Cell: func(t T) string { return t.Status.AllocatedCIDR }},
			{Title: "POOL", Cell: func(t T) string { return show.RefText(&t.Status.PoolRef, t.Metadata.Project) }},
			{Title: "CLASS", Cell: func(t T) string { return classText(t.Status.ClassProject, t.Status.ClassName, t.Metadata.Project) }},
			{Title: "PHASE", Cell: func(t T) string { return string(t.Status.Phase) }},
			{Title: "RECLAIM", Cell: func(t T) string { return string(t.Status.ReclaimPolicy) }},
			{Title: "SCOPE", Wide: true, Cell: func(t T) string { return show.JoinPairs(t.Spec.Scope) }},
			{Title: "OWNER", Wide: true, Cell: func(t T) string { return ownerText(t.Spec.OwnerRef) }},
			{Title: "ALLOCATION", Wide: true, Cell: func(t T) string { return show.RefText(&t.Status.AllocationRef, t.Metadata.Project) }},
			{Title: "REGION", Wide: true, Cell: func(t T) string { return t.Metadata.Region }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}
