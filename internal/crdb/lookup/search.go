package lookup

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// behind is a text that comes after all that begin with one, and before all that are greater.
func behind(text string) string { return text + "\U0010FFFF" }

// PoolsBeginning implements storage.Reader.
func (r Reader) PoolsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Pool, error) {
	return List(ctx, r, "search_pools", rows.LeanPools.Scan, rows.IDs(projects), text, behind(text), limit)
}

// SpacesBeginning implements storage.Reader.
func (r Reader) SpacesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Space, error) {
	return List(ctx, r, "search_spaces", rows.Spaces.Scan, rows.IDs(projects), text, behind(text), limit)
}

// ClassesBeginning implements storage.Reader.
func (r Reader) ClassesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Class, error) {
	return List(ctx, r, "search_classes", rows.Classes.Scan, rows.IDs(projects), text, behind(text), limit)
}

// ClaimsBeginning implements storage.Reader.
func (r Reader) ClaimsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Allocation, error) {
	return List(ctx, r, "search_claims", allocationOfItsPool, r.places.Everywhere(), rows.IDs(projects), text, behind(text), limit)
}

// ConsumersBeginning implements storage.Reader.
func (r Reader) ConsumersBeginning(ctx context.Context, projects []ipam.ID, realm, text string, limit int) ([]ipam.Consumer, error) {
	return List(ctx, r, "search_consumers", rows.Consumers.Scan, r.places.Everywhere(), rows.IDs(projects), realm, text, behind(text), limit)
}

// PoolsAround implements storage.Reader.
func (r Reader) PoolsAround(ctx context.Context, projects []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Pool, error) {
	bases, lengths := heldArrays(candidates)
	if projects == nil {
		return List(ctx, r, "search_pools_around_all", rows.LeanPools.Scan, bases, lengths, limit)
	}
	return List(ctx, r, "search_pools_around", rows.LeanPools.Scan, rows.IDs(projects), bases, lengths, limit)
}

// HeldAround implements storage.Reader: one probe of each pool in each of its regions, as the blocks that are held in one do not overlap.
func (r Reader) HeldAround(ctx context.Context, pools []ipam.Pool, at netip.Addr) ([]ipam.Allocation, error) {
	var regions []string
	var projects, containers [][16]byte
	for _, p := range pools {
		for _, c := range storage.PoolContainers(p) {
			regions, projects, containers = append(regions, c.Region), append(projects, rows.ID(c.ProjectID)), append(containers, rows.ID(c.ID))
		}
	}
	found, err := List(ctx, r, "search_held", allocationOfItsPool, regions, projects, containers, at.AsSlice())
	return slices.DeleteFunc(found, func(a ipam.Allocation) bool { return !a.Block.Contains(at) }), err
}

// HeldElsewhereBy implements storage.Reader.
func (r Reader) HeldElsewhereBy(ctx context.Context, holders []ipam.ID, at netip.Addr, candidates []netip.Prefix, limit int) ([]ipam.Allocation, error) {
	bases, lengths := heldArrays(candidates)
	found, err := List(ctx, r, "search_held_elsewhere", allocationOfItsPool, r.places.Everywhere(), rows.IDs(holders), bases, lengths, at.AsSlice(), limit)
	return slices.DeleteFunc(found, func(a ipam.Allocation) bool { return !a.Block.Contains(at) }), err
}
