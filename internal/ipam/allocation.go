package ipam

import (
	"net/netip"
	"time"
)

// Purpose is the reason why a block is held.
type Purpose string

// The purposes. PurposeRootPool is for the block that a root pool holds in its space. No request returns such an allocation, because it belongs to a
// space and not to a pool.
const (
	PurposeClaim       Purpose = "Claim"
	PurposeChildPool   Purpose = "ChildPool"
	PurposeReservation Purpose = "Reservation"
	PurposeRootPool    Purpose = "RootPool"
)

// Phase is an allocation's phase.
type Phase string

// The phases.
const (
	PhaseBound       Phase = "Bound"
	PhaseRetained    Phase = "Retained"    // its claim was deleted with ReclaimRetain
	PhaseCoolingDown Phase = "CoolingDown" // its claim was deleted; the block has no holder and is not free until CoolUntil
)

// Allocation records one held block. Only Carve writes it, in the transaction that assigns the block.
type Allocation struct {
	ID          ID           `json:"id"` // also its name
	Region      string       `json:"region"`
	ProjectID   ID           `json:"projectId"` // the project that owns the container
	Project     string       `json:"project"`
	ContainerID ID           `json:"containerId"`
	Pool        Ref          `json:"pool,omitzero"` // zero for PurposeRootPool
	Block       netip.Prefix `json:"block"`
	Purpose     Purpose      `json:"purpose"`
	Phase       Phase        `json:"phase"`

	HolderProjectID ID  `json:"holderProjectId,omitzero"` // PurposeClaim: the claiming project
	Holder          Ref `json:"holder,omitzero"`          // PurposeClaim: the claim, or a retained block's last claim; pools: the pool

	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
	OwnerRef      *OwnerRef     `json:"ownerRef,omitempty"`
	Reason        string        `json:"reason,omitempty"`   // PurposeReservation
	Since         time.Time     `json:"since"`              // when the current holder or the current phase began
	Class         ClassRef      `json:"class,omitzero"`     // PurposeClaim: the class that served it
	CoolUntil     time.Time     `json:"coolUntil,omitzero"` // PhaseCoolingDown

	Revision  ID        `json:"revision"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	CreatedBy string    `json:"createdBy"`
}

// Meta implements Resource. The name is the id. The generation stays 1, because the caller sets no spec that could change.
func (a Allocation) Meta() Metadata {
	return Metadata{
		Name: a.ID.String(), UID: a.ID, Project: a.Project, Region: a.Region, Generation: 1, Revision: a.Revision,
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, CreatedBy: a.CreatedBy,
	}
}
