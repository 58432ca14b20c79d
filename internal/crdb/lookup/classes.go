package lookup

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ClassGet implements storage.Reader.
func (r Reader) ClassGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Class, error) {
	return readOne(ctx, r, "class_get", rows.Classes.Scan, NotFound("IP class %s/%s was not found.", project.Name, name), project.ID, name)
}

// ClassList implements storage.Reader.
func (r Reader) ClassList(ctx context.Context, project storage.ProjectKey) ([]ipam.Class, error) {
	return List(ctx, r, "class_list", rows.Classes.Scan, project.ID, project.Name)
}

// ClassesNamed implements storage.Reader.
func (r Reader) ClassesNamed(ctx context.Context, project storage.ProjectKey, names []string) ([]ipam.Class, error) {
	found, err := List(ctx, r, "class_list_named", rows.Classes.Scan, project.ID, project.Name, names)
	// If two classes have the same name, the statement returns the project's own class first. The other one is dropped.
	return slices.CompactFunc(found, func(a, b ipam.Class) bool { return a.Name == b.Name }), err
}

// ClassDefault implements storage.Reader.
func (r Reader) ClassDefault(ctx context.Context, project storage.ProjectKey, family ipam.Family) (ipam.Class, error) {
	return readOne(ctx, r, "class_get_default", rows.Classes.Scan, NotFound("Project %q has no default class for %s.", project.Name, family),
		project.ID, rows.FamilyNumber(family))
}

// ClassPools implements storage.Reader.
func (r Reader) ClassPools(ctx context.Context, class ipam.Class, caller ipam.ID) ([]ipam.Pool, error) {
	owners := []ipam.ID{class.ProjectID}
	if caller != class.ProjectID {
		owners = append(owners, caller)
	}
	return List(ctx, r, "class_pools", rows.LeanPools.Scan, class.UID, owners, storage.MaxClassPools)
}

// ClassUse implements storage.Reader.
func (r Reader) ClassUse(ctx context.Context, class ipam.ID) (storage.ClassUse, error) {
	return exactlyOne(ctx, r, "class_use", func(row pgx.CollectableRow) (u storage.ClassUse, err error) {
		err = row.Scan(&u.Pools, &u.Scoped, &u.Claims)
		return u, err
	}, class)
}

// queueClass adds the queries for a claim's class and for the pools that list the class.
func queueClass(b *pgx.Batch, project storage.ProjectKey, q storage.ClassQuery) {
	id, name := project.ID, project.Name
	b.Queue(query.Get("class_epochs"), []string{name, ipam.PlatformProject}) // the class epochs (versions) are read first, so the other facts are never older than their epochs; the cache would keep older facts
	switch {
	case q.Known:
		return
	case q.Name == "":
		family := rows.FamilyNumber(q.Family)
		b.Queue(query.Get("class_find_default"), id, name, family)
		b.Queue(query.Get("class_find_default_pools"), id, name, family, storage.MaxClassPools)
		return
	}
	b.Queue(query.Get("class_find"), id, name, q.Name)
	b.Queue(query.Get("class_find_pools"), id, name, q.Name, storage.MaxClassPools)
}

func takeClass(results pgx.BatchResults, project storage.ProjectKey, q *storage.ClassQuery) (facts storage.ClassFacts, err error) {
	if q == nil {
		return facts, nil
	}
	epochs, _, err := takeEpochs(results)
	facts.Epochs = storage.ClassEpochs{Own: epochs[project.ID], Platform: epochs[ipam.ID{}]}
	if err != nil || q.Known {
		return facts, err
	}
	err = readOptional(results, rows.Classes.Scan, &facts.Found, true)
	pools, poolsErr := ReadRows(results, rows.LeanPools.Scan)
	facts.Pools = pools
	return facts, errors.Join(err, poolsErr)
}
