package rows

import (
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// heldRow is a row in the table holds, which contains every block that is not free. The row is a claim with its allocation, or an allocation without
// a claim.
type heldRow struct {
	region                         string
	project, container, id, holder ipam.ID
	revision, class, claimID       ipam.ID
	owner                          ipam.ID // hash (OwnerKey); zero if there is no claim or no ownerRef
	purpose                        ipam.Purpose
	phase                          ipam.Phase
	name                           string // the claim's name; "" if the allocation has no claim any more
	since, coolUntil               time.Time
	doc                            string
	held
}

var holdColumns = append(table[heldRow]{
	plain("region", func(r *heldRow) *string { return &r.region }),
	id("project_id", func(r *heldRow) *ipam.ID { return &r.project }),
	id("container_id", func(r *heldRow) *ipam.ID { return &r.container }),
	id("id", func(r *heldRow) *ipam.ID { return &r.id }),
	text("purpose", func(r *heldRow) *ipam.Purpose { return &r.purpose }),
	text("phase", func(r *heldRow) *ipam.Phase { return &r.phase }),
	id("holder_project_id", func(r *heldRow) *ipam.ID { return &r.holder }),
	nullableText("name", func(r *heldRow) *string { return &r.name }),
	nullableID("claim_id", func(r *heldRow) *ipam.ID { return &r.claimID }),
	id("revision", func(r *heldRow) *ipam.ID { return &r.revision }),
	nullableID("class_id", func(r *heldRow) *ipam.ID { return &r.class }),
	moment("since", func(r *heldRow) *time.Time { return &r.since }),
	nullableMoment("cool_until", func(r *heldRow) *time.Time { return &r.coolUntil }),
	plain("doc", func(r *heldRow) *string { return &r.doc }),
	writeOnly(nullableID("owner", func(r *heldRow) *ipam.ID { return &r.owner })),
}, heldColumns(func(r *heldRow) *held { return &r.held })...)

// Allocations maps all rows in holds to allocations, with or without a claim. A root pool's allocation is read without its project. Only allocations
// without a claim are written.
var Allocations = kindOf(holdColumns, rowOfAllocation, (*heldRow).allocation)

// Claims maps the rows in holds that have a claim to claims.
var Claims = kindOf(holdColumns, func(c ipam.Claim, d *documents) heldRow { return rowOfClaim(&c, d) }, (*heldRow).claim)

// NewClaims does the same as Claims with pointers, so that claims are not copied.
var NewClaims = kindOf(holdColumns, rowOfClaim, func(r *heldRow) (*ipam.Claim, error) {
	c, err := r.claim()
	return &c, err
})

// HoldKey identifies a row in holds at a certain revision.
type HoldKey struct{ ID, Revision ipam.ID }

// HoldKeys maps each HoldKey to arguments, for deletes.
var HoldKeys = kindOf(table[HoldKey]{
	id("id", func(k *HoldKey) *ipam.ID { return &k.ID }),
	id("revision", func(k *HoldKey) *ipam.ID { return &k.Revision }),
}, asItIs, asRead)

// OwnerKey returns the key by which statements find an owner's claims. The key is a hash, because the text may be long and is never read from this
// column.
func OwnerKey(owner string) ipam.ID {
	if owner == "" {
		return ipam.ID{}
	}
	return hashOf(owner)
}

func rowOfClaim(c *ipam.Claim, d *documents) heldRow {
	return heldRow{
		region: c.Region, project: c.PoolProjectID, container: c.PoolID, id: c.AllocationID, holder: c.ProjectID,
		revision: c.Revision, class: c.Class.ID, claimID: c.UID, purpose: ipam.PurposeClaim, phase: ipam.PhaseBound, name: c.Name,
		since: c.CreatedAt, doc: d.textOf(c), owner: OwnerKey(c.Spec.OwnerRef.String()), held: heldIn(c.Block),
	}
}

func (r *heldRow) claim() (ipam.Claim, error) {
	c := ipam.Claim{
		Metadata:  ipam.Metadata{Name: r.name, UID: r.claimID, Region: r.region, Revision: r.revision, CreatedAt: r.since},
		ProjectID: r.holder, PoolID: r.container, PoolProjectID: r.project, AllocationID: r.id,
	}
	block, err := r.block()
	if err != nil {
		return c, err
	}
	c.Block, c.Class.ID = block, r.class
	text, err := readHoldText(r.doc)
	text.intoClaim(&c)
	return c, err
}

func rowOfAllocation(a ipam.Allocation, d *documents) heldRow {
	return heldRow{
		region: a.Region, project: a.ProjectID, container: a.ContainerID, id: a.ID, holder: a.HolderProjectID, revision: a.Revision, class: a.Class.ID,
		purpose: a.Purpose, phase: a.Phase, since: a.Since, coolUntil: a.CoolUntil, doc: d.encode(textOfAllocation(&a)), held: heldIn(a.Block),
	}
}

func (r *heldRow) allocation() (a ipam.Allocation, err error) {
	if r.name != "" {
		c, err := r.claim()
		return c.Allocation(), err
	}
	a = ipam.Allocation{
		Region: r.region, ProjectID: r.project, ContainerID: r.container, ID: r.id, HolderProjectID: r.holder, Revision: r.revision,
		Purpose: r.purpose, Phase: r.phase, Since: r.since, CoolUntil: r.coolUntil,
	}
	if a.Block, err = r.block(); err != nil {
		return a, err
	}
	a.Class.ID = r.class
	text, err := readHoldText(r.doc)
	text.intoAllocation(&a)
	return a, err
}
