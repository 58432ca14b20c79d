package storetest

import (
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// born is the creation time of everything in the suite, in the precision of databases: UTC, microseconds.
var born = time.Date(2026, 11, 20, 12, 34, 56, 789012000, time.UTC)

func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// meta returns metadata with a distinct value in every field.
func (s *suite) meta(project, name string) ipam.Metadata {
	return ipam.Metadata{
		Name: name, UID: ipam.NewID(), Project: project, Region: s.Region, Generation: 3, Revision: ipam.NewID(),
		CreatedAt: born, UpdatedAt: born.Add(time.Hour), CreatedBy: "maker-of-" + name,
		Labels:      map[string]string{"team": "blue", "empty": "", "carve.io/tier": "1"},
		Annotations: map[string]string{"note": "line one\nline \"two\" \\ é 漢 🙂", "name": name},
	}
}

func (s *suite) project(name string) ipam.Project {
	p := ipam.Project{Metadata: s.meta("", name), Spec: ipam.ProjectSpec{DisplayName: "The " + name, Description: "What it is for."}}
	p.Region = "" // a project lives in no region
	return p
}

func (s *suite) space(p ipam.Project, name string) ipam.Space {
	return ipam.Space{
		Metadata: s.meta(p.Name, name), ProjectID: p.UID, ContainerV4: ipam.NewID(), ContainerV6: ipam.NewID(),
		Spec: ipam.SpaceSpec{Description: "Routes of " + name},
	}
}

// root returns a root pool with a value in every field that a root pool can have.
func (s *suite) root(sp ipam.Space, name, block string) ipam.Pool {
	b := cidr(block)
	c := storage.SpaceContainer(sp, ipam.FamilyOf(b.Addr()))
	ref := ipam.Ref{Project: sp.Project, Name: sp.Name}
	p := s.pool(sp, name, b)
	p.ContainerID, p.ContainerProjectID = c.ID, c.ProjectID
	p.Spec.CIDR, p.Spec.Space = b, ref
	return p
}

// child returns a pool carved from another one: by length, or as an exact CIDR.
func (s *suite) child(parent ipam.Pool, sp ipam.Space, name, block string, exact bool) ipam.Pool {
	b := cidr(block)
	p := s.pool(sp, name, b)
	p.ContainerID, p.ContainerProjectID, p.Spec.Parent = parent.UID, parent.ProjectID, parent.Ref()
	if exact {
		p.Spec.CIDR = b
	} else {
		p.Spec.PrefixLength = new(b.Bits())
	}
	return p
}

func (s *suite) pool(sp ipam.Space, name string, b netip.Prefix) ipam.Pool {
	return ipam.Pool{
		Metadata: s.meta(sp.Project, name), ProjectID: sp.ProjectID, SpaceID: sp.UID, Block: b,
		Space: ipam.Ref{Project: sp.Project, Name: sp.Name},
		Spec: ipam.PoolSpec{
			Visibility: ipam.VisibilityShared,
			Allocation: ipam.Allocating{
				Strategy:        ipam.Sparse,
				MinPrefixLength: new(b.Bits() + 1), MaxPrefixLength: new(b.Addr().BitLen()), DefaultPrefixLength: new(b.Bits() + 2),
			},
			Reservations: []ipam.Reservation{
				{First: 2, Reason: "gateway"}, {Last: 1, Reason: "broadcast"},
				{From: b.Addr().Next().Next().Next(), To: b.Addr().Next().Next().Next()}, {CIDR: netip.PrefixFrom(b.Addr(), b.Addr().BitLen())},
			},
			Description: "Pool " + name, Region: s.Region,
		},
	}
}

// claim returns a claim on a pool with a value in every field that such a claim can have.
func (s *suite) claim(p ipam.Project, pool ipam.Pool, name, block string) ipam.Claim {
	b := cidr(block)
	c := ipam.Claim{
		Metadata: s.meta(p.Name, name), ProjectID: p.UID, Block: b, Pool: pool.Ref(), PoolID: pool.UID, PoolProjectID: pool.ProjectID,
		AllocationID: ipam.NewID(), ReclaimPolicy: ipam.ReclaimRetain,
		Spec: ipam.ClaimSpec{
			PoolRef: pool.Ref(), PrefixLength: new(b.Bits()), Family: ipam.FamilyOf(b.Addr()), CIDR: b,
			ReclaimPolicy: ipam.ReclaimRetain, OwnerRef: &ipam.OwnerRef{Kind: "Machine", Name: name, UID: "u-" + name},
		},
	}
	return c
}

// held returns the allocation of a claim's block.
func (s *suite) held(c ipam.Claim) ipam.Allocation {
	return ipam.Allocation{
		ID: c.AllocationID, Region: s.Region, ProjectID: c.PoolProjectID, Project: c.Pool.Project, ContainerID: c.PoolID, Pool: c.Pool,
		Block: c.Block, Purpose: ipam.PurposeClaim, Phase: ipam.PhaseBound, HolderProjectID: c.ProjectID, Holder: c.Ref(),
		ReclaimPolicy: c.Spec.ReclaimPolicy, OwnerRef: c.Spec.OwnerRef, Reason: "not of a claim, but stored",
		Since: born.Add(time.Second), Revision: ipam.NewID(), CreatedAt: born, UpdatedAt: born.Add(time.Minute), CreatedBy: "maker",
	}
}

// holds returns the allocation of a block for another purpose than a claim.
func (s *suite) holds(c storage.Container, block string, purpose ipam.Purpose, holder ipam.Ref) ipam.Allocation {
	return ipam.Allocation{
		ID: ipam.NewID(), Region: s.Region, ProjectID: c.ProjectID, Project: c.Pool.Project, ContainerID: c.ID, Pool: c.Pool,
		Block: cidr(block), Purpose: purpose, Phase: ipam.PhaseBound, HolderProjectID: c.ProjectID, Holder: holder,
		Since: born, Revision: ipam.NewID(), CreatedAt: born, UpdatedAt: born, CreatedBy: "maker",
	}
}

func (s *suite) storedResponse(p ipam.Project, key string) storage.StoredResponse {
	return storage.StoredResponse{
		ProjectID: p.UID, Key: key, Fingerprint: [16]byte{1, 2, 3, 15: 255}, Body: []byte("{\"of\":\"" + key + "\"}\x00\xff"),
		CreatedAt: born, ExpiresAt: born.Add(24 * time.Hour),
	}
}
