package crdb

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// inserts come last; rows that others refer to go first.
func (w *writer) inserts(ch storage.Changes) {
	if p := ch.ProjectInsert; p != nil {
		w.hit("project_insert", 1, uuid(p.UID), p.Name, p.Spec.DisplayName, p.Spec.Description, w.json(p.Labels), w.json(p.Annotations),
			p.Generation, uuid(p.Revision), p.CreatedAt, p.UpdatedAt, p.CreatedBy)
		if !w.several { // where else should its claims be? Among several the first claim in a region says so, in a transaction of its own.
			w.hit("project_region_insert", 1, uuid(p.UID), w.region)
		}
	}
	for _, s := range ch.SpaceInsert {
		w.hit("space_insert", 1, uuid(s.UID), uuid(s.ProjectID), s.Name, uuid(s.ContainerV4), uuid(s.ContainerV6), s.Region, s.Spec.Description,
			w.json(s.Labels), w.json(s.Annotations), s.Generation, uuid(s.Revision), s.CreatedAt, s.UpdatedAt, s.CreatedBy)
	}
	w.classInserts(ch.ClassChanges)
	for _, p := range ch.PoolInsert {
		w.pool(p)
	}
	w.regionInserts(ch.RegionChanges)
	for _, f := range ch.Free {
		if len(f.Insert) > 0 {
			sizes, bases := freeArrays(f.Insert)
			w.hit("free_insert", len(f.Insert), f.Container.Region, uuid(f.Container.ID), sizes, bases)
		}
	}
	w.owners(ch.ClaimInsert)
	w.claims(ch.ClaimInsert) // before their allocations: a claim whose first COMMIT landed late must learn of its name first
	for region, list := range byRegion(ch.AllocationInsert) {
		w.allocations(region, list)
	}
	w.accessInserts(ch.AccessChanges)
	w.quotaInserts(ch.QuotaChanges)
	w.trail(ch)
}

func (w *writer) pool(p ipam.Pool) {
	a := p.Spec.Allocation
	var scope *string
	var scoped ipam.PoolScope
	if p.Scope != nil {
		doc := w.json(p.Scope)
		scope, scoped = &doc, *p.Scope
	}
	w.hit("pool_insert", 1, // none: its scope got one meanwhile
		uuid(p.UID), uuid(p.ProjectID), p.Name, p.Region, uuid(p.SpaceID), p.Space.Project, p.Space.Name, uuid(p.ContainerID), uuid(p.ContainerProjectID),
		p.Spec.Parent.Project, p.Spec.Parent.Name, familyNumber(p.Family()), base(p.Block), plen(p.Block), p.Spec.CIDR.IsValid(), string(p.Spec.Visibility),
		string(a.Strategy), smallPtr(a.MinPrefixLength), smallPtr(a.MaxPrefixLength), smallPtr(a.DefaultPrefixLength), w.reservations(p), p.Spec.Description,
		w.json(p.Labels), w.json(p.Annotations), p.Generation, uuid(p.Revision), p.CreatedAt, p.UpdatedAt, p.CreatedBy,
		w.classes(p), secondsPtr(p.Spec.ReuseAfter), scope, idPtr(scoped.Class.ID), idPtr(scoped.ProjectID), scopeKey(p), timePtr(p.EmptySince), w.regions(p))
	w.backing(p)
}

func (w *writer) allocations(region string, list []ipam.Allocation) {
	n := len(list)
	var (
		projects, containers, ids, holders, revisions = make([][16]byte, n), make([][16]byte, n), make([][16]byte, n), make([][16]byte, n), make([][16]byte, n)
		bases                                         = make([][]byte, n)
		lengths                                       = make([]int16, n)
		purposes, phases, poolProjects, poolNames     = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		holderProjects, holderNames, policies         = make([]string, n), make([]string, n), make([]string, n)
		owners                                        = make([]*string, n)
		reasons, creators                             = make([]string, n), make([]string, n)
		since, created, updated                       = make([]time.Time, n), make([]time.Time, n), make([]time.Time, n)
		classes                                       = classArrays(n)
		cooling                                       = make([]*time.Time, n)
	)
	for i, a := range list {
		projects[i], containers[i], ids[i], holders[i], revisions[i] = uuid(a.ProjectID), uuid(a.ContainerID), uuid(a.ID), uuid(a.HolderProjectID), uuid(a.Revision)
		bases[i], lengths[i] = base(a.Block), plen(a.Block)
		purposes[i], phases[i], poolProjects[i], poolNames[i] = string(a.Purpose), string(a.Phase), a.Pool.Project, a.Pool.Name
		holderProjects[i], holderNames[i], policies[i] = a.Holder.Project, a.Holder.Name, string(a.ReclaimPolicy)
		owners[i], reasons[i], creators[i] = w.optionalJSON(a.OwnerRef), a.Reason, a.CreatedBy
		since[i], created[i], updated[i] = a.Since, a.CreatedAt, a.UpdatedAt
		classes.set(i, a.Class)
		cooling[i] = timePtr(a.CoolUntil)
	}
	w.hitEach("allocation_insert", n, 1, region, projects, containers, bases, lengths, ids, purposes, phases, poolProjects, poolNames,
		holders, holderProjects, holderNames, policies, owners, reasons, since, revisions, created, updated, creators,
		classes.ids, classes.projects, classes.names, cooling)
}

// storedSpec is a claim's spec with the reclaim policy that came of it, which is stored there; reclaim_said tells whether the caller wrote it.
func storedSpec(c ipam.Claim) ipam.ClaimSpec {
	spec := c.Spec
	spec.ReclaimPolicy = c.ReclaimPolicy
	return spec
}

// claims are written in the order of their names, and answers in that of their keys: two transactions that meet in several of them wait for
// each other in one direction.
func (w *writer) claims(list []ipam.Claim) {
	for region, part := range claimsByRegion(list) {
		w.claimsIn(region, part)
	}
}

func (w *writer) claimsIn(region string, list []ipam.Claim) {
	list = slices.SortedFunc(slices.Values(list), func(a, b ipam.Claim) int {
		return cmp.Or(bytes.Compare(a.ProjectID[:], b.ProjectID[:]), strings.Compare(a.Name, b.Name))
	})
	n := len(list)
	var (
		projects, ids, pools, poolOwners, allocations, revisions = make([][16]byte, n), make([][16]byte, n), make([][16]byte, n), make([][16]byte, n), make([][16]byte, n), make([][16]byte, n)
		names, poolProjects, poolNames                           = make([]string, n), make([]string, n), make([]string, n)
		bases                                                    = make([][]byte, n)
		lengths                                                  = make([]int16, n)
		specs, labels, annotations, creators                     = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		generations                                              = make([]int64, n)
		created, updated                                         = make([]time.Time, n), make([]time.Time, n)
		refs                                                     = make([]storage.NameRef, n)
		classes, said, reuse                                     = classArrays(n), make([]bool, n), make([]int64, n)
	)
	for i, c := range list {
		projects[i], ids[i], pools[i], poolOwners[i] = uuid(c.ProjectID), uuid(c.UID), uuid(c.PoolID), uuid(c.PoolProjectID)
		allocations[i], revisions[i] = uuid(c.AllocationID), uuid(c.Revision)
		names[i], poolProjects[i], poolNames[i] = c.Name, c.Pool.Project, c.Pool.Name
		bases[i], lengths[i] = base(c.Block), plen(c.Block)
		specs[i], labels[i], annotations[i], creators[i] = w.json(storedSpec(c)), w.labels(c.Labels), w.labels(c.Annotations), c.CreatedBy
		generations[i], created[i], updated[i] = c.Generation, c.CreatedAt, c.UpdatedAt
		classes.set(i, c.Class)
		said[i], reuse[i] = c.Spec.ReclaimPolicy != "", seconds(c.ReuseAfter)
		refs[i] = storage.NameRef{ProjectID: c.ProjectID, Name: c.Name}
	}
	w.named("claim_insert", refs, claimConflicts, region, projects, names, ids, pools, poolOwners, poolProjects, poolNames, bases, lengths, allocations,
		specs, labels, annotations, generations, revisions, created, updated, creators,
		classes.ids, classes.projects, classes.names, said, reuse)
}

func (w *writer) answers(list []storage.Answer) {
	list = slices.SortedFunc(slices.Values(list), func(a, b storage.Answer) int {
		return cmp.Or(bytes.Compare(a.ProjectID[:], b.ProjectID[:]), strings.Compare(a.Key, b.Key))
	})
	n := len(list)
	if n == 0 {
		return
	}
	projects, keys, prints, bodies := make([][16]byte, n), make([]string, n), make([][]byte, n), make([][]byte, n)
	created, expires, refs := make([]time.Time, n), make([]time.Time, n), make([]storage.NameRef, n)
	for i, a := range list {
		projects[i], keys[i], prints[i], bodies[i] = uuid(a.ProjectID), a.Key, a.Fingerprint[:], a.Body
		created[i], expires[i] = a.CreatedAt, a.ExpiresAt
		refs[i] = storage.NameRef{ProjectID: a.ProjectID, Name: a.Key}
	}
	w.named("answer_insert", refs, answerConflicts, w.region, projects, keys, prints, bodies, created, expires)
}
