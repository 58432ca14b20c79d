package alloc

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// RetainedCursor is a place in the list of what a project has retained: by the pool's project, container and address.
type RetainedCursor struct {
	ProjectID   ipam.ID    `json:"p"`
	ContainerID ipam.ID    `json:"c"`
	Base        netip.Addr `json:"b"`
}

// AllocationKey is where an allocation is.
type AllocationKey struct {
	Region string
	ID     ipam.ID
}

// holdingPlace is a place among the holdings of a project: first what it has retained, which nothing else lists, then what its claims hold, by the
// name of the claim.
type holdingPlace struct {
	Retained RetainedCursor `json:"r,omitzero"`
	Claim    string         `json:"c,omitempty"`
}

// kindHoldings is the kind of their cursors.
const kindHoldings = "holdings"

// holdings lists what a project holds by claims, or has retained of them, in pools of any project. It reads nothing but what is the project's own.
func (s *Service) holdings(ctx context.Context, key ProjectKey, f Filter, limit int, cursor string) (Page[ipam.Allocation], error) {
	match := func(a *ipam.Allocation) bool {
		return f.block(a.Block) && is(f.Pool, a.Pool) && f.byClass(a.Class)
	}
	if f.Purpose != "" && f.Purpose != ipam.PurposeClaim || f.Phase == string(ipam.PhaseCoolingDown) {
		return Page[ipam.Allocation]{Items: []ipam.Allocation{}}, nil
	}
	var place holdingPlace
	these := listOf(kindHoldings, key.ID, f)
	if err := openCursor(cursor, these, &place); err != nil {
		return Page[ipam.Allocation]{}, err
	}
	if place.Claim != "" && !ipam.ValidName(place.Claim) {
		return Page[ipam.Allocation]{}, errBadCursor()
	}
	return scan(ctx, s.searching, these, cursor, limit, func(after holdingPlace, n int) ([]ipam.Allocation, error) {
		var found []ipam.Allocation
		if after.Claim == "" && f.Phase != string(ipam.PhaseBound) {
			var err error
			if found, err = s.store.AllocationListRetained(ctx, key, after.Retained, n); err != nil || len(found) == n {
				return found, err
			}
		}
		if f.Phase == string(ipam.PhaseRetained) {
			return found, nil
		}
		bound, err := s.boundAfter(ctx, key, after.Claim, n-len(found))
		return append(found, bound...), err
	}, match, placeOfHolding)
}

func placeOfHolding(a ipam.Allocation) holdingPlace {
	if a.Phase == ipam.PhaseBound {
		return holdingPlace{Claim: a.Holder.Name}
	}
	return holdingPlace{Retained: RetainedCursor{ProjectID: a.ProjectID, ContainerID: a.ContainerID, Base: a.Block.Addr()}}
}

// boundAfter answers the allocations of the first n of a project's claims after a name: fewer only where there are no more.
func (s *Service) boundAfter(ctx context.Context, key ProjectKey, name string, n int) ([]ipam.Allocation, error) {
	var bound []ipam.Allocation
	for len(bound) < n {
		ask := n - len(bound)
		claims, err := s.store.ClaimList(ctx, key, name, ask)
		if err != nil || len(claims) == 0 {
			return bound, err
		}
		keys := make([]AllocationKey, 0, len(claims))
		for _, c := range claims {
			keys, name = append(keys, AllocationKey{Region: c.Region, ID: c.AllocationID}), c.Name
		}
		held, err := s.store.AllocationsNamed(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, c := range claims {
			// A claim may have been released, and another been bound to its block, since the claims were read.
			if a, there := held[c.AllocationID]; there && a.Phase == ipam.PhaseBound && a.HolderProjectID == key.ID && a.Holder.Name == c.Name {
				bound = append(bound, a)
			}
		}
		if len(claims) < ask {
			break
		}
	}
	return bound, nil
}
