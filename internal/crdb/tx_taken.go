package crdb

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

// Taken implements storage.Tx: one round trip, one statement for all names, one for all keys and one for their projects.
func (t *tx) Taken(ctx context.Context, claims, keys []storage.NameRef) (taken map[storage.NameRef]bool, used map[storage.NameRef]bool, err error) {
	taken, used = map[storage.NameRef]bool{}, map[storage.NameRef]bool{}
	b := &pgx.Batch{}
	queueRefs(b, "claims_named", t.region, claims)
	queueRefs(b, "answers_named", t.region, keys)
	if b.Len() == 0 {
		return taken, used, nil
	}
	b.Queue(query.Get("projects_there"), rows.IDs(projectsOf(claims)))
	results := t.conn.SendBatch(ctx, b)
	err = errors.Join(takeRefs(results, claims, taken), takeRefs(results, keys, used), takeGone(results, claims, taken))
	return taken, used, errors.Join(err, results.Close())
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

// takeRefs reads the (project, name) of rows that exist.
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

// takeGone counts names in projects that are not there as taken.
func takeGone(results pgx.BatchResults, asked []storage.NameRef, taken map[storage.NameRef]bool) error {
	there, err := rest(results, scanID)
	for _, r := range asked {
		if !slices.Contains(there, r.ProjectID) {
			taken[r] = true
		}
	}
	return err
}
