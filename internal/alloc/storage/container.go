package storage

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Container is the address space from which blocks are carved: a pool in a region, or one family of a space.
type Container struct {
	Region    string
	ID        ipam.ID
	ProjectID ipam.ID // owner
	Block     netip.Prefix
	Pool      ipam.Ref // zero for a space's container
	Away      bool     // of a pool outside its home region: the container covers the blocks lent to the region, and not Block
}

// PoolContainer returns a pool's container in the region from which the pool is drawn (Pool.At).
func PoolContainer(p ipam.Pool) Container {
	return Container{Region: p.Place(), ID: p.UID, ProjectID: p.ProjectID, Block: p.Block, Pool: p.Ref(), Away: p.At != ""}
}

// Lock returns the id that Locks use for a container. It is the container's own id at home and a derived id in each other region, so that regions do
// not wait for each other.
func (c Container) Lock() ipam.ID {
	if c.Away {
		return AwayLock(c.ID, c.Region)
	}
	return c.ID
}

// AwayLock returns a container's lock id in a region other than its home.
func AwayLock(container ipam.ID, region string) ipam.ID {
	return ipam.DerivedID(container, "in "+region)
}

// SpaceContainer returns the container for one family of a space.
func SpaceContainer(s ipam.Space, f ipam.Family) Container {
	return Container{Region: s.Region, ID: s.Container(f), ProjectID: s.ProjectID, Block: f.Everything()}
}

// WholeBlock returns a container's free blocks before anything is carved from it.
func WholeBlock(c Container) []netip.Prefix { return []netip.Prefix{c.Block} }
