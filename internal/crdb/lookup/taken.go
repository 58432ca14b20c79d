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

// Taken reports which names of claims and which idempotency keys are in use. In one round trip it sends three statements: for the names, for the
// keys, and for the projects of the names.
func Taken(ctx context.Context, db Querier, region string, claims, keys []storage.NameRef) (taken, used map[storage.NameRef]bool, err error) {
	return TakenUnder(ctx, db, region, claims, keys, nil, nil)
}

// TakenUnder does the same as Taken. In the same round trip, but after the other reads, it adds the version rows with the keys in places to fences.
func TakenUnder(
	ctx context.Context, db Querier, region string, claims, keys []storage.NameRef, places []FenceKey, fences Fences,
) (taken, used map[storage.NameRef]bool, err error) {
	taken, used = map[storage.NameRef]bool{}, map[storage.NameRef]bool{}
	b := &pgx.Batch{}
	queueRefs(b, "claims_named", region, claims)
	queueKeys(b, region, keys)
	if b.Len() == 0 {
		return taken, used, nil
	}
	b.Queue(query.Get("projects_there"), rows.IDs(projectsOf(claims)))
	if len(places) > 0 {
		b.Queue(query.Get("fence_list"), fenceArgs(places)...)
	}
	results := db.SendBatch(ctx, b)
	err = takeRefs(results, claims, taken)
	expires, keysErr := takeKeys(results, keys)
	for key := range expires {
		used[key] = true
	}
	err = errors.Join(err, keysErr, takeGone(results, claims, taken))
	if err == nil && len(places) > 0 {
		err = fences.take(results)
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
	projects, stored := make([][16]byte, len(keys)), make([][16]byte, len(keys))
	for i, k := range keys {
		projects[i], stored[i] = k.ProjectID, rows.AnswerKey(k.Name)
	}
	b.Queue(query.Get("answers_named"), region, projects, stored)
}

// takeKeys reads the project, the key and the expiry of each stored response.
func takeKeys(results pgx.BatchResults, asked []storage.NameRef) (map[storage.NameRef]time.Time, error) {
	if len(asked) == 0 {
		return nil, nil //nolint:nilnil // without keys, no response exists
	}
	answer, err := results.Query()
	if err != nil {
		return nil, err
	}
	expires, refs := make(map[storage.NameRef]time.Time), make(map[[2]ipam.ID]storage.NameRef, len(asked))
	for _, ref := range asked {
		refs[[2]ipam.ID{ref.ProjectID, rows.AnswerKey(ref.Name)}] = ref
	}
	var project, key ipam.ID
	var at time.Time
	_, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&project), (*[16]byte)(&key), &at}, func() error {
		expires[refs[[2]ipam.ID{project, key}]] = at
		return nil
	})
	return expires, err
}

func queueRefs(b *pgx.Batch, name, region string, refs []storage.NameRef) {
	if len(refs) == 0 {
		return
	}
	projects, names := make([][16]byte, len(refs)), make([]string, len(refs))
	for i, r := range refs {
		projects[i], names[i] = rows.ID(r.ProjectID), r.Name
	}
	b.Queue(query.Get(name), region, projects, names)
}

// takeRefs reads the project and the name of each existing row.
func takeRefs(results pgx.BatchResults, asked []storage.NameRef, found map[storage.NameRef]bool) error {
	if len(asked) == 0 {
		return nil
	}
	answer, err := results.Query()
	if err != nil {
		return err
	}
	var ref storage.NameRef
	_, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&ref.ProjectID), &ref.Name}, func() error {
		found[ref] = true
		return nil
	})
	return err
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
	there, err := Rest(results, ScanID)
	for _, r := range asked {
		if !slices.Contains(there, r.ProjectID) {
			taken[r] = true
		}
	}
	return err
}
