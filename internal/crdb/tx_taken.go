package crdb

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/crdb/query"
)

// Taken implements alloc.Tx: one round trip, one statement for all names and one for all keys.
func (t *tx) Taken(ctx context.Context, claims, keys []alloc.NameRef) (taken map[alloc.NameRef]bool, used map[alloc.NameRef]bool, err error) {
	taken, used = map[alloc.NameRef]bool{}, map[alloc.NameRef]bool{}
	b := &pgx.Batch{}
	queueRefs(b, "claims_named", t.region, claims)
	queueRefs(b, "answers_named", t.region, keys)
	if b.Len() == 0 {
		return taken, used, nil
	}
	results := t.conn.SendBatch(ctx, b)
	err = errors.Join(takeRefs(results, claims, taken), takeRefs(results, keys, used))
	return taken, used, errors.Join(err, results.Close())
}

func queueRefs(b *pgx.Batch, name, region string, refs []alloc.NameRef) {
	if len(refs) == 0 {
		return
	}
	projects, names := make([][16]byte, len(refs)), make([]string, len(refs))
	for i, r := range refs {
		projects[i], names[i] = uuid(r.ProjectID), r.Name
	}
	b.Queue(query.Get(name), region, projects, names)
}

// takeRefs reads the (project, name) of rows that exist.
func takeRefs(results pgx.BatchResults, asked []alloc.NameRef, found map[alloc.NameRef]bool) error {
	if len(asked) == 0 {
		return nil
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	var ref alloc.NameRef
	_, err = pgx.ForEachRow(rows, []any{(*[16]byte)(&ref.ProjectID), &ref.Name}, func() error {
		found[ref] = true
		return nil
	})
	return err
}
