package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// poolRow is a pool, together with the fields that have another form in the database.
type poolRow struct {
	ipam.Pool
	metadata
	held
	space, parent                  ipam.Ref
	byCIDR                         bool
	reuseAfter                     *int64
	classes, regions, reservations string
	scope, scopeKey                *string
	family                         int16
	scopeClass, scopeProject       ipam.ID
}

var leanColumns = slices.Concat(
	recordColumns(func(r *poolRow) *ipam.Metadata { return &r.Metadata }),
	heldColumns(func(r *poolRow) *held { return &r.held }),
	refColumns("space_project", "space_name", func(r *poolRow) *ipam.Ref { return &r.space }),
	refColumns("parent_project", "parent_name", func(r *poolRow) *ipam.Ref { return &r.parent }),
	table[poolRow]{
		id("project_id", func(r *poolRow) *ipam.ID { return &r.ProjectID }),
		plain("project", func(r *poolRow) *string { return &r.Project }),
		plain("name", func(r *poolRow) *string { return &r.Name }),
		plain("region", func(r *poolRow) *string { return &r.Region }),
		id("space_id", func(r *poolRow) *ipam.ID { return &r.SpaceID }),
		id("container_id", func(r *poolRow) *ipam.ID { return &r.ContainerID }),
		id("container_project_id", func(r *poolRow) *ipam.ID { return &r.ContainerProjectID }),
		plain("by_cidr", func(r *poolRow) *bool { return &r.byCIDR }),
		text("visibility", func(r *poolRow) *ipam.Visibility { return &r.Spec.Visibility }),
		text("strategy", func(r *poolRow) *ipam.Strategy { return &r.Spec.Allocation.Strategy }),
		pointer("min_plen", func(r *poolRow) **int { return &r.Spec.Allocation.MinPrefixLength }),
		pointer("max_plen", func(r *poolRow) **int { return &r.Spec.Allocation.MaxPrefixLength }),
		pointer("default_plen", func(r *poolRow) **int { return &r.Spec.Allocation.DefaultPrefixLength }),
		document("classes", func(r *poolRow) *[]ipam.ClassRef { return &r.Classes }, func(r *poolRow) *string { return &r.classes }),
		pointer("reuse_after_seconds", func(r *poolRow) **int64 { return &r.reuseAfter }),
		nullable("scope", func(r *poolRow) **ipam.PoolScope { return &r.Scope }, func(r *poolRow) *string { return r.scope }),
		nullableMoment("empty_since", func(r *poolRow) *time.Time { return &r.EmptySince }),
		nullableText("drain", func(r *poolRow) *string { return (*string)(&r.Spec.Drain) }),
		document("regions", func(r *poolRow) *[]string { return &r.Spec.Regions }, func(r *poolRow) *string { return &r.regions }),
	})

var poolColumns = slices.Concat(leanColumns,
	labelColumns(func(r *poolRow) *ipam.Metadata { return &r.Metadata }, func(r *poolRow) *metadata { return &r.metadata }),
	table[poolRow]{
		plain("description", func(r *poolRow) *string { return &r.Spec.Description }),
		document("reservations", func(r *poolRow) *[]ipam.Reservation { return &r.Spec.Reservations }, func(r *poolRow) *string { return &r.reservations }),
		writeOnly(plain("af", func(r *poolRow) *int16 { return &r.family })),
		writeOnly(nullableID("scope_class_id", func(r *poolRow) *ipam.ID { return &r.scopeClass })),
		writeOnly(nullableID("scope_project_id", func(r *poolRow) *ipam.ID { return &r.scopeProject })),
		writeOnly(pointer("scope_key", func(r *poolRow) **string { return &r.scopeKey })),
	})

// Pools maps pools to rows. LeanPools does the same without the large fields, which are reservations, description, labels and annotations.
var (
	Pools     = kindOf(poolColumns, rowOfPool, (*poolRow).pool)
	LeanPools = kindOf(leanColumns, rowOfPool, (*poolRow).pool)
)

func rowOfPool(p ipam.Pool, d *documents) poolRow {
	r := poolRow{
		Pool: p, metadata: d.metadata(p.Metadata), held: heldIn(p.Block), space: p.Space, parent: p.Spec.Parent, byCIDR: p.Spec.CIDR.IsValid(),
		classes: list(d, p.Classes), regions: list(d, p.Spec.Regions), reservations: list(d, p.Spec.Reservations), family: FamilyNumber(p.Family()),
	}
	if p.Spec.ReuseAfter != nil {
		n := seconds(*p.Spec.ReuseAfter)
		r.reuseAfter = &n
	}
	if s := p.Scope; s != nil {
		doc := d.encode(s)
		r.scope, r.scopeKey, r.scopeClass, r.scopeProject = &doc, &s.Key, s.Class.ID, s.ProjectID
	}
	return r
}

func (r *poolRow) pool() (p ipam.Pool, err error) {
	p = r.Pool
	normalize(&p.Metadata)
	p.Space, p.Spec.Parent = r.space, r.parent
	if p.Block, err = r.block(); err != nil {
		return p, err
	}
	if p.Root() {
		p.Spec.Space = r.space
	}
	if r.byCIDR {
		p.Spec.CIDR = p.Block
	} else {
		bits := p.Block.Bits()
		p.Spec.PrefixLength = &bits
	}
	p.Spec.Reservations, p.Classes, p.Spec.Regions = emptyToNil(p.Spec.Reservations), emptyToNil(p.Classes), emptyToNil(p.Spec.Regions)
	p.Spec.Region = p.Region
	for _, c := range p.Classes {
		p.Spec.ClassNames = append(p.Spec.ClassNames, c.Ref.Name)
	}
	if r.reuseAfter != nil {
		d := time.Duration(*r.reuseAfter) * time.Second
		p.Spec.ReuseAfter = &d
	}
	return p, nil
}

type scopedRow struct {
	poolRow
	class ipam.ClassSpec
	held  bool
}

// ScopedPools maps scoped pools to rows, for reading. It also reads the facts that decide whether an empty pool may be deleted.
var ScopedPools = kindOf(
	append(within(poolColumns.readable(), func(r *scopedRow) *poolRow { return &r.poolRow }),
		document("class_spec", func(r *scopedRow) *ipam.ClassSpec { return &r.class }, nil),
		plain("held", func(r *scopedRow) *bool { return &r.held })),
	nil,
	func(r *scopedRow) (storage.ScopedPool, error) {
		p, err := r.pool()
		return storage.ScopedPool{Pool: p, TTL: r.class.EmptyPoolTTL, Held: r.held}, err
	})
