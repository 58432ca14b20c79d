package lookup

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Taken reports which claim names and which idempotency keys are in use. It sends one batch with a statement for the names, one for the keys and one
// for the names' projects. The last statement in the batch reads the version rows with the keys in fenceKeys, and Taken adds these rows to fences.
func Taken(
	ctx context.Context, db Querier, region string, claims, keys []storage.NameRef, fenceKeys []FenceKey, fences Fences,
) (taken, used map[storage.NameRef]bool, err error) {
	taken, used = map[storage.NameRef]bool{}, map[storage.NameRef]bool{}
	b := &pgx.Batch{}
	queueNames(b, region, claims)
	queueKeys(b, region, keys)
	if b.Len() == 0 {
		return taken, used, nil
	}
	b.Queue(query.Get("projects_there"), projectsOf(claims))
	if len(fenceKeys) > 0 {
		b.Queue(query.Get("fence_list"), fenceArgs(fenceKeys)...)
	}
	results := db.SendBatch(ctx, b)
	err = takeRefs(results, claims, taken)
	expires, keysErr := takeKeys(results, keys)
	for key := range expires {
		used[key] = true
	}
	err = errors.Join(err, keysErr, takeGone(results, claims, taken))
	if err == nil && len(fenceKeys) > 0 {
		err = fences.collect(results.Query())
	}
	return taken, used, errors.Join(err, results.Close())
}

// Expiries returns the times at which the stored responses under idempotency keys expire. It omits a key without a response.
func Expiries(ctx context.Context, db Querier, region string, keys []storage.NameRef) (map[storage.NameRef]time.Time, error) {
	b := &pgx.Batch{}
	queueKeys(b, region, keys)
	results := db.SendBatch(ctx, b)
	expires, err := takeKeys(results, keys)
	return expires, errors.Join(err, results.Close())
}

func queueKeys(b *pgx.Batch, region string, keys []storage.NameRef) {
	if len(keys) == 0 {
		return
	}
	projects, stored := make([]ipam.ID, len(keys)), make([]ipam.ID, len(keys))
	for i, k := range keys {
		projects[i], stored[i] = k.ProjectID, rows.IdempotencyKey(k.Name)
	}
	b.Queue(query.Get("answers_named"), region, projects, stored)
}

// takeKeys reads each stored response's project, key and expiry.
func takeKeys(results pgx.BatchResults, asked []storage.NameRef) (map[storage.NameRef]time.Time, error) {
	if len(asked) == 0 {
		return nil, nil //nolint:nilnil // without keys, no response exists
	}
	expires, refs := make(map[storage.NameRef]time.Time), make(map[[2]ipam.ID]storage.NameRef, len(asked))
	for _, ref := range asked {
		refs[[2]ipam.ID{ref.ProjectID, rows.IdempotencyKey(ref.Name)}] = ref
	}
	var project, key ipam.ID
	var at time.Time
	err := ForEach(results, []any{&project, &key, &at}, func() { expires[refs[[2]ipam.ID{project, key}]] = at })
	return expires, err
}

func queueNames(b *pgx.Batch, region string, refs []storage.NameRef) {
	if len(refs) == 0 {
		return
	}
	projects, names := make([]ipam.ID, len(refs)), make([]string, len(refs))
	for i, r := range refs {
		projects[i], names[i] = r.ProjectID, r.Name
	}
	b.Queue(query.Get("claims_named"), region, projects, names)
}

// takeRefs reads each existing row's project and name.
func takeRefs(results pgx.BatchResults, asked []storage.NameRef, found map[storage.NameRef]bool) error {
	if len(asked) == 0 {
		return nil
	}
	var ref storage.NameRef
	return ForEach(results, []any{&ref.ProjectID, &ref.Name}, func() { found[ref] = true })
}

func projectsOf(refs []storage.NameRef) (ids []ipam.ID) {
	for _, r := range refs {
		if !slices.Contains(ids, r.ProjectID) {
			ids = append(ids, r.ProjectID)
		}
	}
	return ids
}

// takeGone marks every name in a missing project as taken.
func takeGone(results pgx.BatchResults, asked []storage.NameRef, taken map[storage.NameRef]bool) error {
	there, err := ReadRows(results, pgx.RowTo[ipam.ID])
	for _, r := range asked {
		if !slices.Contains(there, r.ProjectID) {
			taken[r] = true
		}
	}
	return err
}
