package pools

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type creator struct {
	*usecase.Core

	regions  *regions.Regions
	refusals *refusals.Refusals
}

// CreatePool carves a pool and its reservations in one transaction.
func (s *creator) CreatePool(ctx context.Context, project string, p ipam.Pool, r usecase.Request) (usecase.Result[ipam.Pool], error) {
	who, key, err := s.Enter(ctx, tenancy.PoolsWrite, project)
	if err == nil {
		err = cmp.Or(usecase.CheckNew(&p.Metadata, p.Spec.Check()),
			ipam.CheckPoolBlock("/spec/cidr", p.Spec.CIDR), checkVisibility(project, p.Spec.Visibility), checkOpen(p.Spec.Drain))
	}
	if err == nil {
		err = s.regions.CheckRegions(ctx, &p.Spec)
	}
	if err != nil {
		return usecase.Result[ipam.Pool]{}, err
	}
	p.Metadata = s.NewMetadata(p.Metadata, project, p.Spec.Region, who)
	p.ProjectID = key.ID
	random := ipam.NewID()
	result, err := usecase.RunIdempotent(ctx, s.Core, key, r, &p.Metadata, usecase.DecodeWhole[ipam.Pool], func(ctx context.Context) (ipam.Pool, error) {
		from, err := poolSource(ctx, s.Store, key, p)
		if err == nil {
			from, err = s.sourceNear(ctx, from, p, r.DryRun)
		}
		if err != nil {
			return p, err
		}
		made, err := s.createFrom(ctx, key, p, from, random, r)
		if err != nil {
			err = s.retryElsewhere(ctx, key, p, from, r, err)
		}
		return made, err
	})
	return result, s.refusals.WithFigures(ctx, err)
}

// createFrom carves a pool from its source, a parent pool or a space. It holds the source's lock in this process.
func (s *creator) createFrom(
	ctx context.Context, key storage.ProjectKey, p ipam.Pool, from Source, random ipam.ID, r usecase.Request,
) (ipam.Pool, error) {
	return usecase.RetryUnlocked(ctx, s.Core, func() (ipam.Pool, error) { return s.createLocked(ctx, key, p, from, random, r) })
}

func (s *creator) createLocked(
	ctx context.Context, key storage.ProjectKey, p ipam.Pool, from Source, random ipam.ID, r usecase.Request,
) (ipam.Pool, error) {
	release, err := s.Locks.Acquire(ctx, from.Container.Lock())
	if err != nil {
		return p, err
	}
	defer release()
	classes, err := classesToList(ctx, s.Store, key, p.Spec.ClassNames)
	if err != nil {
		return p, err
	}
	locks := storage.Locks{Exclusive: []ipam.ID{from.Container.Lock()}, Shared: []ipam.ID{key.ID}, TryShared: true}.Merge(listingLocks(key, p.Spec.ClassNames, classes))
	plan := poolPlan{from: from.Container.ID, region: from.Container.Region, classes: classes, random: random}
	return usecase.RunWithReadBack(ctx, s.Core, "pool_create", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Pool, error) {
		return s.carvePool(ctx, tx, key, p, plan, r)
	}, func(ctx context.Context) (ipam.Pool, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.PoolGet(ctx, key, p.Name))
		if err != nil || !found || got.UID != p.UID {
			return got, false, err
		}
		got, err = regions.WithStanding(ctx, s.Store, got)
		return got, err == nil, err
	})
}

// retryElsewhere handles a refusal. It returns a Conflict, which causes a retry, in two cases. Either the missing block can be borrowed from another
// region, or the requested block is moving between two regions. retryElsewhere runs without the process's lock on the source, because a loan needs
// that lock.
func (s *creator) retryElsewhere(ctx context.Context, key storage.ProjectKey, p ipam.Pool, from Source, r usecase.Request, refused error) error {
	if usecase.NameTaken(refused) && !r.DryRun {
		return s.RefuseTakenName(ctx, refused, func(ctx context.Context) error {
			_, err := s.Store.PoolGet(ctx, key, p.Name)
			return err
		})
	}
	if lack, ok := errors.AsType[*refusals.Lacking](refused); ok && !r.DryRun && lack.Pools[0].MultiRegion() {
		if brought, failed := s.regions.Borrowed(ctx, lack.Pools[0], lack.Bits); failed != nil || brought {
			return cmp.Or(failed, error(&storage.Conflict{}))
		}
	}
	if from.Parent != nil && ipam.IsCode(refused, ipam.CodeBlockTaken) {
		if free, failed := s.regions.InTransit(ctx, *from.Parent, p.Spec.CIDR, r.DryRun); free && failed == nil {
			return &storage.Conflict{}
		}
	}
	return refused
}

// poolPlan contains the values that are fixed before the transaction: the locked rows, and the random bits that a retry must use again.
type poolPlan struct {
	from    ipam.ID   // the source container's id
	region  string    // the source container's region
	classes []ipam.ID // the classes that the pool lists
	random  ipam.ID
}

func (s *creator) carvePool(ctx context.Context, tx storage.Tx, key storage.ProjectKey, p ipam.Pool, plan poolPlan, r usecase.Request) (ipam.Pool, error) {
	from, err := plan.source(ctx, tx, key, p)
	if err != nil {
		return p, err
	}
	var fresh []ipam.Class
	if p.Classes, fresh, err = resolveListed(ctx, tx, key, p.Spec.ClassNames, ipam.FamilyOf(from.Container.Block.Addr()), nil, plan.classes); err != nil {
		return p, err
	}
	block, carved, err := plan.carve(ctx, tx, key, from, p.Spec)
	if err != nil {
		return p, err
	}
	p.CreatedAt = tx.Now()
	p.UpdatedAt = p.CreatedAt
	p.Block, p.SpaceID, p.Space = block, from.SpaceID, from.Space
	p.ContainerID, p.ContainerProjectID = from.Container.ID, from.Container.ProjectID
	if from.Parent == nil {
		p.Spec.Space = from.Space
	}
	// Check the block's length too, because a parent pool may be older than the limit for the length.
	if err := cmp.Or(p.Spec.Allocation.CheckFor(block), ipam.CheckPoolBlock("/spec/prefixLength", block)); err != nil {
		return p, err
	}
	if err := refuseOverlap(ctx, tx, key, p, fresh); err != nil {
		return p, err
	}
	inner, reservations, err := s.reserve(p)
	if err != nil {
		return p, err
	}
	quotas, err := poolQuotas(ctx, tx, key.ID, p.ContainerID)
	if err == nil {
		err = quotas.Take(ctx, key, quota.PoolSubject(p), OnePool)
	}
	if err != nil {
		return p, err
	}
	p.Stock = ipam.Stock{Free: freespace.HistogramOf(inner)}
	p.Regional = regions.FirstStanding(p)
	ch := storage.Changes{
		Free:             []storage.FreeChange{carved, {Container: storage.PoolContainer(p), Insert: inner}},
		PoolInsert:       []ipam.Pool{p},
		AllocationInsert: append(reservations, PoolHold(p, from)),
		RegionChanges:    storage.RegionChanges{PoolRegionInsert: regions.BeginRegions(p, p.Spec.Regions)},
	}
	quotas.AddTo(&ch)
	if ch.StoredResponses, err = usecase.StoredResponses(key.ID, r, p.CreatedAt, p); err != nil {
		return p, err
	}
	event, err := trail.Changed(ctx, p.CreatedAt, key.ID, trail.KindPool, p.Name, nil, trail.RecordedPool(p))
	if err != nil {
		return p, err
	}
	ch.Events = []ipam.Event{event}
	return p, tx.Write(ctx, ch)
}

// source reads the pool's source in the transaction.
func (plan poolPlan) source(ctx context.Context, tx storage.Tx, key storage.ProjectKey, p ipam.Pool) (Source, error) {
	from, err := poolSource(ctx, tx, key, p)
	if err == nil {
		err = storage.SameThing(plan.from, from.Container.ID)
	}
	if err != nil {
		return from, err
	}
	if from = from.usedIn(plan.region); from.Parent != nil && !from.Parent.Serves(plan.region) {
		return from, &storage.Conflict{} // the pool no longer serves that region, so retry
	}
	if from.Parent != nil && from.Parent.MultiRegion() {
		err = regions.Fenced(ctx, tx, *from.Parent)
	}
	return from, err
}

// carve takes the pool's block from the source.
func (plan poolPlan) carve(
	ctx context.Context, tx storage.Tx, key storage.ProjectKey, from Source, spec ipam.PoolSpec,
) (netip.Prefix, storage.FreeChange, error) {
	wish := freespace.BlockRequest{Exact: spec.CIDR}
	if from.Parent != nil {
		if err := admitChild(*from.Parent, spec); err != nil {
			return netip.Prefix{}, storage.FreeChange{}, err
		}
		if spec.PrefixLength != nil {
			wish = carve.RequestFor(netip.Prefix{}, *spec.PrefixLength, from.Parent.Spec.Allocation.Strategy, plan.random, from.Container.Block, tx.Attempt())
		}
	}
	free, err := tx.FreeRead(ctx, from.Container, carve.Reads(from.Container, nil, []freespace.BlockRequest{wish}))
	if err != nil {
		return netip.Prefix{}, storage.FreeChange{}, err
	}
	k, err := carve.NewCarver(from.Container, nil, free)
	if err != nil {
		return netip.Prefix{}, storage.FreeChange{}, err
	}
	block, ok := k.Take(wish)
	if !ok {
		return block, storage.FreeChange{}, poolRefusal(ctx, tx, key, from, wish)
	}
	return block, k.Change(), nil
}

// OnePool is the usage that one pool adds to its project's quotas.
var OnePool = ipam.Usage{Pools: 1}

// poolQuotas reads the quotas that count a container's pools.
func poolQuotas(ctx context.Context, tx storage.Tx, projectID, containerID ipam.ID) (*quota.Ledger, error) {
	parts, err := tx.QuotaParts(ctx, []ipam.ID{projectID}, quota.ShardOf(containerID))
	return quota.NewLedger(tx, parts), err
}

// checkVisibility allows the visibility "platform" only in the project "platform".
func checkVisibility(project string, v ipam.Visibility) error {
	if v == ipam.VisibilityPlatform && project != ipam.PlatformProject {
		return ipam.Invalid("/spec/visibility", "can be platform only for pools of the project %q; use consumer or shared.", ipam.PlatformProject)
	}
	return nil
}

// checkOpen refuses to create a pool that is already draining.
func checkOpen(d ipam.Drain) error {
	if d == "" {
		return nil
	}
	return ipam.Invalid("/spec/drain", "is for existing pools; leave it out.")
}

// reserve takes the reservations from a new pool. It returns the free blocks, and the allocations for the reserved blocks.
func (s *creator) reserve(p ipam.Pool) (free []netip.Prefix, held []ipam.Allocation, err error) {
	list, err := carve.CutReservations(p.Block, p.Spec.Reservations)
	if err != nil {
		return nil, nil, err
	}
	set, err := freespace.NewFreeSet(p.Block, []netip.Prefix{p.Block})
	if err != nil {
		return nil, nil, err
	}
	for _, r := range list {
		set.Take(freespace.BlockRequest{Exact: r.Block}) // cannot fail, because carve.CutReservations has returned disjoint blocks inside the pool
		held = append(held, reservationOf(p, r))
	}
	_, free = set.Changes()
	if len(list) == 0 {
		free = []netip.Prefix{p.Block}
	}
	return free, held, nil
}

func reservationOf(p ipam.Pool, r carve.Reserved) ipam.Allocation {
	return ipam.Allocation{
		ID: ipam.DerivedID(p.Revision, r.Block.String()), Region: p.Region, ProjectID: p.ProjectID, Project: p.Project, ContainerID: p.UID, Pool: p.Ref(),
		Block: r.Block, Purpose: ipam.PurposeReservation, Phase: ipam.PhaseBound, Reason: r.Reason,
		Since: p.UpdatedAt, Revision: p.Revision, CreatedAt: p.UpdatedAt, UpdatedAt: p.UpdatedAt, CreatedBy: p.CreatedBy,
	}
}

// PoolHold returns the pool's own allocation in its source. The allocation belongs to the source's owner. If a root pool is in another project's
// space, this is the space's owner.
func PoolHold(p ipam.Pool, from Source) ipam.Allocation {
	a := ipam.Allocation{
		ID: ipam.DerivedID(p.UID, "hold"), Region: from.Container.Region, ProjectID: from.Container.ProjectID, Project: from.Space.Project,
		ContainerID: from.Container.ID, Block: p.Block, Purpose: ipam.PurposeRootPool, Phase: ipam.PhaseBound,
		HolderProjectID: p.ProjectID, Holder: p.Ref(), Since: p.CreatedAt,
		Revision: p.Revision, CreatedAt: p.CreatedAt, UpdatedAt: p.CreatedAt, CreatedBy: p.CreatedBy,
	}
	if from.Parent != nil {
		a.Purpose, a.Pool, a.Project = ipam.PurposeChildPool, from.Parent.Ref(), from.Parent.Project
	}
	return a
}

func admitChild(parent ipam.Pool, spec ipam.PoolSpec) error {
	if spec.CIDR.IsValid() {
		return parent.AdmitExact("/spec/cidr", spec.CIDR)
	}
	return parent.Admit("/spec/prefixLength", *spec.PrefixLength)
}

// poolRefusal returns the reason why the source had no room. It does not name other projects' pools in the same space.
func poolRefusal(ctx context.Context, read storage.Reader, key storage.ProjectKey, from Source, wish freespace.BlockRequest) error {
	if from.Parent != nil {
		viewer := refusals.Viewer{Project: storage.ProjectKey{ID: from.Parent.ProjectID, Name: from.Parent.Project}}
		if !wish.Exact.IsValid() {
			return &refusals.Lacking{Viewer: viewer, Pools: []ipam.Pool{*from.Parent}, Bits: wish.Bits}
		}
		return refusals.TakenRefusal(ctx, read, viewer, *from.Parent, wish.Exact, "/spec/cidr")
	}
	others, err := read.PoolListOverlapping(ctx, from.Container.ID, wish.Exact, 5)
	if err != nil {
		return err
	}
	others = slices.DeleteFunc(others, func(o ipam.Pool) bool { return o.ProjectID != key.ID })
	e := ipam.Errorf(ipam.CodeOverlap, "%s overlaps a pool of space %s.", wish.Exact, from.Space)
	if len(others) > 0 {
		e = ipam.Errorf(ipam.CodeOverlap, "%s overlaps pool %s (%s) of space %s.", wish.Exact, others[0].Ref(), others[0].Block, from.Space)
	}
	for _, o := range others {
		e.Figures.ConflictsWith = append(e.Figures.ConflictsWith, o.Ref().String())
	}
	return e.At("/spec/cidr", "must not overlap another root pool of the space.")
}
