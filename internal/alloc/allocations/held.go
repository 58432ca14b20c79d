package allocations

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// heldCursor is a position in the list of a project's own allocations. The list has the retained allocations first. Then it has the claims'
// allocations, by claim name.
type heldCursor struct {
	Retained storage.RetainedCursor `json:"r,omitzero"`
	Claim    string                 `json:"c,omitempty"`
}

// kindHeld is this list's kind in cursors.
const kindHeld = "holdings"

// listHeld lists the allocations that a project's claims hold and those that the project has retained, in pools of any project. It reads only the
// project's own rows.
func (s *Allocations) listHeld(ctx context.Context, read storage.Reader, key storage.ProjectKey, f paging.Filter, limit int, cursor string,
) (paging.Page[ipam.Allocation], error) {
	match := func(a *ipam.Allocation) bool {
		return f.MatchesBlock(a.Block) && paging.MatchesRef(f.Pool, a.Pool) && f.MatchesClass(a.Class)
	}
	if f.Purpose != "" && f.Purpose != ipam.PurposeClaim || f.Phase == string(ipam.PhaseCoolingDown) {
		return paging.Page[ipam.Allocation]{Items: []ipam.Allocation{}}, nil
	}
	var place heldCursor
	these := paging.ListOf(kindHeld, key.ID, f)
	if err := paging.OpenCursor(cursor, these, &place); err != nil {
		return paging.Page[ipam.Allocation]{}, err
	}
	if place.Claim != "" && !ipam.ValidName(place.Claim) {
		return paging.Page[ipam.Allocation]{}, paging.ErrBadCursor()
	}
	return paging.Scan(ctx, s.Searching, these, cursor, limit, func(after heldCursor, n int) ([]ipam.Allocation, error) {
		var found []ipam.Allocation
		if after.Claim == "" && f.Phase != string(ipam.PhaseBound) {
			var err error
			if found, err = read.AllocationListRetained(ctx, key, after.Retained, n); err != nil || len(found) == n {
				return found, err
			}
		}
		if f.Phase == string(ipam.PhaseRetained) {
			return found, nil
		}
		bound, err := boundAfter(ctx, read, key, after.Claim, n-len(found))
		return append(found, bound...), err
	}, match, cursorOf)
}

func cursorOf(a ipam.Allocation) heldCursor {
	if a.Phase == ipam.PhaseBound {
		return heldCursor{Claim: a.Holder.Name}
	}
	return heldCursor{Retained: storage.RetainedCursor{ProjectID: a.ProjectID, ContainerID: a.ContainerID, Base: a.Block.Addr()}}
}

// boundAfter returns the allocations for a project's first n claims after a name. It returns fewer than n allocations only at the end of the list.
func boundAfter(ctx context.Context, read storage.Reader, key storage.ProjectKey, name string, n int) ([]ipam.Allocation, error) {
	claims, err := read.ClaimList(ctx, key, name, n)
	bound := make([]ipam.Allocation, len(claims))
	for i, c := range claims {
		bound[i] = c.Allocation()
	}
	return bound, err
}
