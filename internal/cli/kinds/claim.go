package kinds

import (
	"encoding/json"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func claims(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, In: "claims", Short: "Claims, each for one block",
		View: claimView(), Fields: append(verbs.Labels[:2:2], claimFields()...),
		Feed:     client.ChangeKindIPClaim,
		ListHelp: "Lists the claims of the project, in order of name, or with --pool and without\n--owner in order of address. A claim must match all filters.",
		Filters: []verbs.Field{
			verbs.SelectorFilter("claims"),
			{Flag: "phase", Words: "Bound Pending Releasing Error", Usage: "only claims in this phase"},
			verbs.FamilyFilter("blocks"), verbs.PoolFilter, verbs.ClassFilter("only claims of this `CLASS`"),
			{Flag: "owner", Usage: "only claims for this `OWNER` in your own system, kind/name/uid"},
			verbs.WithinFilter, verbs.ContainsFilter,
		},
		Get: true, Show: true,
		Create: &verbs.Writer{
			Use:   "create [NAME] [--class CLASS | --pool POOL | --selector LABELS | --allocation UUID]",
			Short: "Claim a block or an address",
			Long: `Creates a claim for one block and prints the block. The claim is bound at once, or it does not exist.

The block comes from the pools behind a class (--class), or by default behind the default class of the family. Other sources:
one given pool (--pool); the first pool by name with the labels and enough space (--selector; deprecated, use classes); the
block of a retained allocation (--allocation). -q prints only the CIDR.`,
			Example: `  ipamctl claim create web --pool prod-eu --prefix-length 24
  ipamctl claim create --generate-name node- --class standard -q
  ipamctl claim create web-eu --class clusters --scope cluster=web-eu
  ipamctl claim create vip --pool prod-eu --address 10.20.0.17 --reclaim-policy Retain --owner Ingress/web
  ipamctl claim create web-1 --consumer vm-7c1f --consumer-ttl 2m --when-unused Delete`,
			Check: checkClaim,
		},
		Set: &verbs.Writer{
			Use:   "set NAME [--label KEY=VALUE]... [--reclaim-policy POLICY] ...",
			Short: "Change the labels, the annotations and the reclaim policy of a claim",
			Long: `Changes the given fields only. 'none' restores the default policy. The block and the requested size of a claim never change;
'ipamctl claim delete' releases the block.`,
			Example: `  ipamctl claim set web --label team=shop --label old-
  ipamctl claim set vip --reclaim-policy Retain`,
		},
		Delete: &verbs.Removal{
			Many:  verbs.ByLabels,
			Apart: true,
			Left:  blockKept,
			Long:  "Deletes claims. Their blocks are free at once, or after the cool-down of their class or pool; with the reclaim policy Retain\nthe allocation keeps the block.",
		},
	}
}

// blockKept returns a phrase about a claim whose block will be retained. It has the block and the allocation's name, for --allocation.
func blockKept(project string, doc json.RawMessage, dry bool) (string, error) {
	claim, err := show.Read[client.IPClaim](doc)
	is := claim.Status
	if err != nil || is.ReclaimPolicy != client.ReclaimPolicyRetain {
		return "", err
	}
	verb := "is"
	if dry {
		verb = "would be"
	}
	return "; " + is.AllocatedCIDR + " " + verb + " retained as allocation " + show.RefText(&is.AllocationRef, project), nil
}

func claimView() show.View {
	return show.ViewOf("claim", `
		NAME: metadata.name
		CIDR: status.allocatedCIDR
		POOL: status.poolRef
		CLASS: class
		PHASE: status.phase
		RECLAIM: status.reclaimPolicy
		SCOPE: spec.scope, wide
		OWNER: spec.ownerRef, wide
		ALLOCATION: status.allocationRef, wide
		REGION: metadata.region, wide`+labelled+`
		PROJECT: metadata.project, more
		ANNOTATIONS: metadata.annotations, more`, show.Cells[client.IPClaim]{
		"class": func(t client.IPClaim) string {
			return classText(t.Status.ClassProject, t.Status.ClassName, t.Metadata.Project)
		},
	}).Blocks()
}
