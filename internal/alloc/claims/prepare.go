package claims

import (
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// preparer prepares claims that are to be made.
type preparer struct {
	*usecase.Core

	regions *regions.Regions
}

// claim validates a claim and fixes everything that a repeat of the transaction must not change.
func (s preparer) claim(c ipam.Claim, key storage.ProjectKey, who tenancy.Principal) (ipam.Claim, error) {
	if err := usecase.CheckNew(&c.Metadata, c.Spec.CheckNew()); err != nil {
		return c, err
	}
	c.Metadata = s.Fresh(c.Metadata, key.Name, s.Region, who)
	s.regions.NameHere(&c.Metadata)
	c.ProjectID = key.ID
	c.AllocationID = ipam.DerivedID(c.UID, "allocation")
	return c, nil
}

// allocationOf is the record of a claim's block.
func allocationOf(c ipam.Claim, p ipam.Pool) ipam.Allocation {
	return ipam.Allocation{
		ID: c.AllocationID, Region: p.Place(), ProjectID: p.ProjectID, Project: p.Project, ContainerID: p.UID, Pool: p.Ref(),
		Block: c.Block, Purpose: ipam.PurposeClaim, Phase: ipam.PhaseBound,
		HolderProjectID: c.ProjectID, Holder: c.Ref(), Class: c.Class, ReclaimPolicy: c.ReclaimPolicy, OwnerRef: c.Spec.OwnerRef,
		Since: c.CreatedAt, Revision: heldRevision(c), CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt, CreatedBy: c.CreatedBy,
	}
}

// heldRevision is the revision of the allocation that a claim holds. It follows the claim's and does not tell it: the pool's owner, who reads the
// allocation, learns so that the claim was changed, and not the tag with which its holder changes it.
func heldRevision(c ipam.Claim) ipam.ID { return ipam.DerivedID(c.Revision, "allocation") }
