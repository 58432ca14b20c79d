package storage

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Container is what blocks are carved from: a pool in a region, or one family of a space.
type Container struct {
	Region    string
	ID        ipam.ID
	ProjectID ipam.ID // owner
	Block     netip.Prefix
	Pool      ipam.Ref // zero for a space's container
	Away      bool     // of a pool in another region than its home: it covers what was lent to that, and not Block
}

// PoolContainer is a pool as a container, in the region that it is drawn from (Pool.At).
func PoolContainer(p ipam.Pool) Container {
	return Container{Region: p.Place(), ID: p.UID, ProjectID: p.ProjectID, Block: p.Block, Pool: p.Ref(), Away: p.At != ""}
}

// Lock is what stands for a container in Locks: its id at home, and one of its own in each other region, so that regions do not wait for
// each other.
func (c Container) Lock() ipam.ID {
	if c.Away {
		return AwayLock(c.ID, c.Region)
	}
	return c.ID
}

// AwayLock is what stands for a container in a region away from its home.
func AwayLock(container ipam.ID, region string) ipam.ID {
	return ipam.DerivedID(container, "in "+region)
}

// SpaceContainer is one family of a space as a container.
func SpaceContainer(s ipam.Space, f ipam.Family) Container {
	return Container{Region: s.Region, ID: s.Container(f), ProjectID: s.ProjectID, Block: f.Everything()}
}

// WholeBlock is a container with nothing carved from it yet.
func WholeBlock(c Container) []netip.Prefix { return []netip.Prefix{c.Block} }
