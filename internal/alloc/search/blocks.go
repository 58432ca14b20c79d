package search

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
)

// findBlocks finds the allocations and the pools that contain a block. The smallest block comes first.
func (l *look) findBlocks(ctx context.Context, block netip.Prefix, address bool) error {
	projects := l.in.ids()
	switch {
	case l.in.allProjects && !l.in.singleProject:
		projects = nil
	case len(projects) == 0:
		return nil
	}
	candidates := make([]netip.Prefix, 0, block.Bits()+1)
	for bits := block.Bits(); bits >= 0; bits-- {
		candidates = append(candidates, freespace.Ancestor(block, bits))
	}
	pools, err := l.read.PoolsAround(ctx, projects, candidates, maxPools+1)
	if err != nil {
		return err
	}
	if len(pools) > maxPools {
		pools, l.truncated = pools[:maxPools], true
	}
	var containers []storage.Container
	for _, p := range pools {
		containers = append(containers, storage.PoolContainers(p)...)
	}
	held, err := l.read.HeldAt(ctx, containers, candidates)
	if err != nil {
		return err
	}
	if projects != nil {
		elsewhere, err := l.read.HeldElsewhere(ctx, projects, candidates, maxPools+1)
		if err != nil {
			return err
		}
		if len(elsewhere) > maxPools {
			elsewhere, l.truncated = elsewhere[:maxPools], true
		}
		held = append(held, elsewhere...)
	}
	for _, a := range held {
		is := func(p ipam.Pool) bool { return p.Ref() == a.Holder && p.Block == a.Block }
		if freespace.Contains(a.Block, block) && (a.Purpose != ipam.PurposeChildPool || !slices.ContainsFunc(pools, is)) {
			l.found = append(l.found, l.heldBy(a, reasonFor(a.Block, block, address, ReasonHolds)))
		}
	}
	for _, p := range pools {
		l.found = append(l.found, poolItem(p, reasonFor(p.Block, block, address, ReasonContains)))
	}
	l.seen += len(candidates) + len(pools)
	l.sort(func(a, b Item) int { return cmp.Compare(b.Block.Bits(), a.Block.Bits()) })
	return nil
}

// reasonFor returns the reason why the search found a block. It returns ReasonBlock if the block is exactly the block in the request.
func reasonFor(found, asked netip.Prefix, address bool, otherwise Reason) Reason {
	if found == asked && !address {
		return ReasonBlock
	}
	return otherwise
}

// heldBy returns the item for a held block. If the caller may see the claim that holds it, the item is the claim. Otherwise, it is the allocation.
func (l *look) heldBy(a ipam.Allocation, why Reason) Item {
	if a.Purpose == ipam.PurposeClaim && a.Phase == ipam.PhaseBound && l.in.shows(a.HolderProjectID) {
		return claimItem(a, why)
	}
	item := Item{Kind: trail.KindAllocation, Project: a.Pool.Project, Name: a.ID.String(), Block: a.Block, Pool: a.Pool, Purpose: a.Purpose, Phase: a.Phase, Why: why}
	if a.Purpose == ipam.PurposeClaim {
		item.Consumer = a.Holder.Project
	}
	// The caller may see the holder's project, but not the pool's project. The item then names the holder's project.
	if !l.in.shows(a.ProjectID) {
		item.Project = a.Holder.Project
	}
	return item
}

func claimItem(a ipam.Allocation, why Reason) Item {
	return Item{Kind: trail.KindClaim, Project: a.Holder.Project, Name: a.Holder.Name, Block: a.Block, Pool: a.Pool, Why: why}
}

func poolItem(p ipam.Pool, why Reason) Item {
	return Item{Kind: trail.KindPool, Project: p.Project, Name: p.Name, Block: p.Block, Pool: p.Spec.Parent, Space: p.Space, Why: why}
}
