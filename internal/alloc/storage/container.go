package storage

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Container is the address space from which blocks are carved: a pool in a region, or one family in a space.
type Container struct {
	Region    string
	ID        ipam.ID
	ProjectID ipam.ID // the owner
	Block     netip.Prefix
	Pool      ipam.Ref // zero if the container is a space
	Away      bool     // the container is a pool outside its home region; it then covers the blocks that were lent to the region, not the whole Block
}

// PoolContainer returns a pool's container in the region where the pool is used (Pool.Place).
func PoolContainer(p ipam.Pool) Container {
	return Container{Region: p.Place(), ID: p.UID, ProjectID: p.ProjectID, Block: p.Block, Pool: p.Ref(), Away: p.UsedIn != ""}
}

// Lock returns the container's id for Locks. In the home region, this is the container's own id. Each other region has a derived id, so that the
// regions do not wait for each other.
func (c Container) Lock() ipam.ID {
	if c.Away {
		return AwayLock(c.ID, c.Region)
	}
	return c.ID
}

// AwayLock returns a container's lock id in a region that is not its home.
func AwayLock(container ipam.ID, region string) ipam.ID {
	return ipam.DerivedID(container, "in "+region)
}

// SpaceContainer returns the container for one address family in a space.
func SpaceContainer(s ipam.Space, f ipam.Family) Container {
	return Container{Region: s.Region, ID: s.Container(f), ProjectID: s.ProjectID, Block: f.Everything()}
}

// WholeBlock returns a container's free blocks before anything is carved from it.
func WholeBlock(c Container) []netip.Prefix { return []netip.Prefix{c.Block} }
