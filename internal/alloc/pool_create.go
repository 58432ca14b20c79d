package alloc

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// CreatePool carves a pool, and its reservations from it, in one transaction.
func (s *Service) CreatePool(ctx context.Context, project string, p ipam.Pool, r Request) (Result[ipam.Pool], error) {
	none := Result[ipam.Pool]{}
	who, key, err := s.enter(ctx, tenancy.PoolsWrite, project)
	if err != nil {
		return none, err
	}
	if err := cmp.Or(checkNew(&p.Metadata, p.Spec.Check()), ipam.CheckPoolBlock("/spec/cidr", p.Spec.CIDR)); err != nil {
		return none, err
	}
	if err := checkVisibility(project, p.Spec.Visibility); err != nil {
		return none, err
	}
	if err := s.checkRegions(ctx, &p.Spec); err != nil {
		return none, err
	}
	p.Metadata = s.fresh(p.Metadata, project, p.Spec.Region, who)
	p.ProjectID = key.ID
	random := ipam.NewID()
	answer, err := once(ctx, s, key, r, &p.Metadata, func(ctx context.Context) (ipam.Pool, error) {
		from, err := poolSource(ctx, s.store, key, p)
		if err == nil {
			from, err = s.sourceNear(ctx, from, p, r.DryRun)
		}
		if err != nil {
			return p, err
		}
		release, err := s.lanes.acquire(ctx, from.container.Lock())
		if err != nil {
			return p, err
		}
		defer func() { release() }()
		classes, err := classesToList(ctx, s.store, key, p.Spec.ClassNames)
		if err != nil {
			return p, err
		}
		locks := Locks{Alone: []ipam.ID{from.container.Lock()}, Shared: []ipam.ID{key.ID}}.and(listingLocks(key, p.Spec.ClassNames, classes))
		plan := poolPlan{from: from.container.ID, at: from.container.Region, classes: classes, random: random}
		made, err := settled(ctx, s, "pool_create", locks, r.DryRun, func(ctx context.Context, tx Tx) (ipam.Pool, error) {
			return s.carvePool(ctx, tx, key, p, plan, r)
		}, func(ctx context.Context) (ipam.Pool, bool, error) {
			got, found, err := ignoreNotFound(s.store.PoolGet(ctx, key, p.Name))
			if err != nil || !found || got.UID != p.UID {
				return got, false, err
			}
			got, err = withStanding(ctx, s.store, got)
			return got, err == nil, err
		})
		if nameTaken(err) && !r.DryRun {
			return made, s.exists(ctx, err, func(ctx context.Context) error {
				_, err := s.store.PoolGet(ctx, key, p.Name)
				return err
			})
		}
		if lack, ok := errors.AsType[*lacking](err); ok && !r.DryRun && lack.pools[0].Several() {
			release() // a loan needs the turn
			release = func() {}
			if brought, failed := s.borrowed(ctx, lack.pools[0], lack.bits); failed != nil || brought {
				return p, orAgain(failed)
			}
		}
		if from.parent != nil && ipam.IsCode(err, ipam.CodeBlockTaken) {
			if free, failed := s.onItsWay(ctx, *from.parent, p.Spec.CIDR, r.DryRun); free && failed == nil {
				release()
				release = func() {}
				return p, &Conflict{}
			}
		}
		return made, err
	})
	return answer, s.counted(ctx, err)
}

// orAgain makes once look again, unless something has failed.
func orAgain(failed error) error {
	if failed != nil {
		return failed
	}
	return &Conflict{}
}

// poolPlan is what is prepared before the transaction: what that has locked, and what it must not choose anew.
type poolPlan struct {
	from    ipam.ID   // the container
	at      string    // its region
	classes []ipam.ID // those that the pool lists
	random  ipam.ID
}

// carvePool is one attempt of the transaction pool_create.
func (s *Service) carvePool(ctx context.Context, tx Tx, key ProjectKey, p ipam.Pool, plan poolPlan, r Request) (ipam.Pool, error) {
	from, err := poolSource(ctx, tx, key, p)
	if err != nil {
		return p, err
	}
	if err := moved(plan.from, from.container.ID); err != nil {
		return p, err
	}
	if from = from.in(plan.at); from.parent != nil && !from.parent.Serves(plan.at) {
		return p, &Conflict{} // the region was given up meanwhile: look again
	}
	if from.parent != nil && from.parent.Several() {
		if err := fenced(ctx, tx, *from.parent); err != nil {
			return p, err
		}
	}
	if p.Classes, err = listed(ctx, tx, key, p.Spec.ClassNames, ipam.FamilyOf(from.container.Block.Addr()), nil, plan.classes); err != nil {
		return p, err
	}
	wish := space.Wish{Exact: p.Spec.CIDR}
	if from.parent != nil {
		if err := admitChild(*from.parent, p.Spec); err != nil {
			return p, err
		}
		if p.Spec.PrefixLength != nil {
			wish = wishFor(netip.Prefix{}, *p.Spec.PrefixLength, from.parent.Spec.Allocation.Strategy, plan.random, from.container.Block, tx.Attempt())
		}
	}
	wishes := []space.Wish{wish}
	free, err := tx.FreeRead(ctx, from.container, reads(from.container, nil, wishes))
	if err != nil {
		return p, err
	}
	k, err := newCarver(from.container, nil, free)
	if err != nil {
		return p, err
	}
	block, ok := k.take(wish)
	if !ok {
		return p, poolRefusal(ctx, tx, key, from, wish)
	}
	p.CreatedAt = tx.Now()
	p.UpdatedAt = p.CreatedAt
	p.Block, p.SpaceID, p.Space = block, from.spaceID, from.space
	p.ContainerID, p.ContainerProjectID = from.container.ID, from.container.ProjectID
	if from.parent == nil {
		p.Spec.Space = from.space
	}
	if err := p.Spec.Allocation.CheckFor(block); err != nil {
		return p, err
	}
	if err := ipam.CheckPoolBlock("/spec/prefixLength", block); err != nil { // of a parent from before there was this check
		return p, err
	}
	inner, reservations, err := s.reserve(p)
	if err != nil {
		return p, err
	}
	quotas, err := poolQuotas(ctx, tx, key.ID, p.ContainerID)
	if err != nil {
		return p, err
	}
	if err := quotas.take(ctx, key, poolPlace(p), onePool); err != nil {
		return p, err
	}
	p.Stock = ipam.Stock{Free: space.HistogramOf(inner)}
	p.Regional = firstStanding(p)
	stored, err := answers(key.ID, r, p.CreatedAt, p)
	if err != nil {
		return p, err
	}
	event, err := changed(ctx, p.CreatedAt, key.ID, kindPool, p.Name, nil, recordedPool(p))
	if err != nil {
		return p, err
	}
	ch := Changes{
		Free:             []FreeChange{k.change(), {Container: PoolContainer(p), Insert: inner}},
		PoolInsert:       []ipam.Pool{p},
		AllocationInsert: append(reservations, poolHold(p, from)),
		Answers:          stored,
		Events:           []ipam.Event{event},
		RegionChanges:    RegionChanges{PoolRegionInsert: beginRegions(p, p.Spec.Regions)},
	}
	quotas.into(&ch)
	return p, tx.Write(ctx, ch)
}

// onePool is what a pool takes from the quotas of its project.
var onePool = ipam.Usage{Pools: 1}

// poolQuotas reads the quotas that a transaction on a container's pools takes from or gives back to.
func poolQuotas(ctx context.Context, tx Tx, projectID, containerID ipam.ID) (*ledger, error) {
	parts, err := tx.QuotaParts(ctx, []ipam.ID{projectID}, shardOf(containerID))
	return newLedger(tx, parts), err
}

// checkVisibility keeps pools "of the platform" to the platform's project.
func checkVisibility(project string, v ipam.Visibility) error {
	if v == ipam.VisibilityPlatform && project != ipam.PlatformProject {
		return ipam.Invalid("/spec/visibility", "can be platform only for pools of the project %q; use consumer or shared.", ipam.PlatformProject)
	}
	return nil
}

// reserve cuts the reservations out of a new pool: what stays free, and the allocations that hold the rest.
func (s *Service) reserve(p ipam.Pool) (free []netip.Prefix, held []ipam.Allocation, err error) {
	list, err := reservedBlocks(p.Block, p.Spec.Reservations)
	if err != nil {
		return nil, nil, err
	}
	set, err := space.NewFreeSet(p.Block, []netip.Prefix{p.Block})
	if err != nil {
		return nil, nil, err
	}
	for _, r := range list {
		set.Take(space.Wish{Exact: r.block}) // cannot fail: reservedBlocks has taken the same ones
		held = append(held, reservationOf(p, r))
	}
	_, free = set.Changes()
	if len(list) == 0 {
		free = []netip.Prefix{p.Block}
	}
	return free, held, nil
}

func reservationOf(p ipam.Pool, r reserved) ipam.Allocation {
	return ipam.Allocation{
		ID: ipam.DerivedID(p.Revision, r.block.String()), Region: p.Region, ProjectID: p.ProjectID, Project: p.Project, ContainerID: p.UID, Pool: p.Ref(),
		Block: r.block, Purpose: ipam.PurposeReservation, Phase: ipam.PhaseBound, Reason: r.reason,
		Since: p.UpdatedAt, Revision: p.Revision, CreatedAt: p.UpdatedAt, UpdatedAt: p.UpdatedAt, CreatedBy: p.CreatedBy,
	}
}

// poolHold is the pool's own allocation in what it was carved from. It belongs to the owner of that: of a root pool in a space
// of another project, to the owner of the space.
func poolHold(p ipam.Pool, from source) ipam.Allocation {
	a := ipam.Allocation{
		ID: ipam.DerivedID(p.UID, "hold"), Region: from.container.Region, ProjectID: from.container.ProjectID, Project: from.space.Project,
		ContainerID: from.container.ID, Block: p.Block, Purpose: ipam.PurposeRootPool, Phase: ipam.PhaseBound,
		HolderProjectID: p.ProjectID, Holder: p.Ref(), Since: p.CreatedAt,
		Revision: p.Revision, CreatedAt: p.CreatedAt, UpdatedAt: p.CreatedAt, CreatedBy: p.CreatedBy,
	}
	if from.parent != nil {
		a.Purpose, a.Pool, a.Project = ipam.PurposeChildPool, from.parent.Ref(), from.parent.Project
	}
	return a
}

func admitChild(parent ipam.Pool, spec ipam.PoolSpec) error {
	if spec.CIDR.IsValid() {
		return parent.AdmitExact("/spec/cidr", spec.CIDR)
	}
	return parent.Admit("/spec/prefixLength", *spec.PrefixLength)
}

// poolRefusal explains why the source had no room. Pools of other projects in the same space are not named.
func poolRefusal(ctx context.Context, read Reader, key ProjectKey, from source, wish space.Wish) error {
	if from.parent != nil {
		tell := telling{viewer: ProjectKey{ID: from.parent.ProjectID, Name: from.parent.Project}}
		if !wish.Exact.IsValid() {
			return &lacking{tell: tell, pools: []ipam.Pool{*from.parent}, bits: wish.Bits}
		}
		return takenRefusal(ctx, read, tell, *from.parent, wish.Exact, "/spec/cidr")
	}
	others, err := read.PoolListOverlapping(ctx, from.container.ID, wish.Exact, 5)
	if err != nil {
		return err
	}
	others = slices.DeleteFunc(others, func(o ipam.Pool) bool { return o.ProjectID != key.ID })
	e := ipam.Errorf(ipam.CodeOverlap, "%s overlaps a pool of space %s.", wish.Exact, from.space)
	if len(others) > 0 {
		e = ipam.Errorf(ipam.CodeOverlap, "%s overlaps pool %s (%s) of space %s.", wish.Exact, others[0].Ref(), others[0].Block, from.space)
	}
	for _, o := range others {
		e.Figures.ConflictsWith = append(e.Figures.ConflictsWith, o.Ref().String())
	}
	return e.At("/spec/cidr", "must not overlap another root pool of the space.")
}
