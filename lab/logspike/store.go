package logspike

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/crdb/outcome"
)

// store runs the statements.
type store struct {
	db *pgxpool.Pool
	// hook runs before and after each statement that writes. Its error replaces the result, as if the connection were lost. It may be nil.
	hook func(step string) error
}

// lost runs the hook.
func (s *store) lost(step string) error {
	if s.hook == nil {
		return nil
	}
	return s.hook(step)
}

// ending is the outcome of the INSERT of a group.
type ending int

const (
	committed ending = iota
	keyTaken         // another server wrote the log row
	clashed          // a name or an idempotency key is in use
	outdated         // the cache is too old to write from it
	again            // the database rolled the INSERT back
	unknown
	refused
)

// insert sends the rows of a group.
func (s *store) insert(ctx context.Context, r *rows) (ending, error) {
	if err := s.lost("insert: before"); err != nil {
		return unknown, err
	}
	tag, err := s.db.Exec(ctx, entriesInsert, r.arguments()...)
	if lost := s.lost("insert: after"); lost != nil {
		return unknown, lost
	}
	pg, isPG := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil && tag.RowsAffected() == 0:
		return outdated, nil
	case err == nil:
		return committed, nil
	case isPG && pg.Code == "23505" && pg.ConstraintName == "entries_pkey":
		return keyTaken, err
	case isPG && pg.Code == "23505":
		return clashed, err
	}
	switch end, _ := outcome.Classify(outcome.AtCommit(err)); end {
	case outcome.Retry, outcome.RetrySlowly:
		return again, err
	case outcome.Indeterminate:
		return unknown, err
	default:
		return refused, err
	}
}

// logRow returns the group that wrote a log row, if there is one.
func (s *store) logRow(ctx context.Context, pool ID, seq int64) (group ID, found bool, err error) {
	err = s.db.QueryRow(ctx, logGet, pgtype.UUID{Bytes: pool, Valid: true}, seq).Scan(&group)
	if errors.Is(err, pgx.ErrNoRows) {
		return group, false, nil
	}
	return group, err == nil, err
}

// logRow is a log row that another server may have written.
type logRow struct {
	seq  int64
	body logBody
}

// tail reads the log rows after seq.
func (s *store) tail(ctx context.Context, pool ID, seq int64) (log []logRow, err error) {
	found, err := s.db.Query(ctx, tailList, pool, seq)
	if err != nil {
		return nil, err
	}
	var r logRow
	var body string
	_, err = pgx.ForEachRow(found, []any{&r.seq, &body}, func() error {
		r.body = logBody{}
		err := json.Unmarshal([]byte(body), &r.body)
		log = append(log, r)
		return err
	})
	return log, err
}

// root reads the newest root page of a pool.
func (s *store) root(ctx context.Context, pool ID) (root rootPage, err error) {
	var version int64
	var body []byte
	err = s.db.QueryRow(ctx, rootGet, pool).Scan(&version, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return root, &Refusal{Code: NotFound, Name: pool.String()}
	}
	if err == nil {
		root, err = decodeRoot(body)
	}
	root.version = version
	return root, err
}

// errReplaced reports that a page is not stored any more. A newer snapshot replaced it.
var errReplaced = errors.New("a page was replaced by a newer snapshot")

// pages loads the children of items.
func (s *store) pages(ctx context.Context, pool ID, items []*item) error {
	blocks, by := make([][]byte, len(items)), make(map[pageKey]*item, len(items))
	for i, it := range items {
		blocks[i], by[pageKey{it.block, it.version}] = appendBlock(nil, it.block), it
	}
	found, err := s.db.Query(ctx, pagesGet, repeated(pool, len(blocks)), blocks)
	if err != nil {
		return err
	}
	var block, body []byte
	var version int64
	_, err = pgx.ForEachRow(found, []any{&block, &version, &body}, func() error {
		p, err := parseBlock(block)
		if it := by[pageKey{p, version}]; err == nil && it != nil {
			it.node, err = decodeNode(p, body)
		}
		return err
	})
	for _, it := range items {
		if err == nil && it.node == nil {
			err = errReplaced
		}
	}
	return err
}

// pagesInOneStatement limits the size of a statement.
const pagesInOneStatement = 1000

// saveSnapshot writes the pages of a snapshot, and the root page as the last one. It deletes the pages that the snapshot before it has replaced.
// Pages that this snapshot replaces stay for servers that have just read the old root page.
func (s *store) saveSnapshot(ctx context.Context, pool ID, pages []page, replaced []netip.Prefix, seq int64) error {
	if err := s.lost("snapshot: before"); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error { //nolint:forbidigo // the product's runner knows only the product's tables
		for from := 0; from < len(pages); from += pagesInOneStatement {
			some := pages[from:min(from+pagesInOneStatement, len(pages))]
			blocks, versions, bodies := make([][]byte, len(some)), make([]int64, len(some)), make([][]byte, len(some))
			for i, p := range some {
				blocks[i], versions[i], bodies[i] = p.stored(), p.version, p.body
			}
			if _, err := tx.Exec(ctx, pagesInsert, pool, blocks, versions, bodies, seq); err != nil {
				return err
			}
		}
		blocks := [][]byte{{}} // of old root pages
		for _, block := range replaced {
			blocks = append(blocks, appendBlock(nil, block))
		}
		_, err := tx.Exec(ctx, pagesDelete, repeated(pool, len(blocks)), blocks, pages[len(pages)-1].version-1)
		return err
	})
	if lost := s.lost("snapshot: after"); lost != nil {
		return lost
	}
	return err
}

// stored returns the block as it is stored. The root page has no block.
func (k pageKey) stored() []byte {
	if !k.block.IsValid() {
		return []byte{}
	}
	return appendBlock(nil, k.block)
}
