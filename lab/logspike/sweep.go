package logspike

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// sweepBatch is the number of holds or log rows that one transaction of the sweeper deletes.
const sweepBatch = 300

// sweep deletes ended holds of a pool, and log rows that two snapshots contain.
func (s *store) sweep(ctx context.Context, pool ID) error {
	for {
		rows, err := s.db.Query(ctx, endedList, pool, sweepBatch)
		if err != nil {
			return err
		}
		var ended []Hold
		var h Hold
		var block []byte
		_, err = pgx.ForEachRow(rows, []any{&block, &h.Seq}, func() (err error) {
			h.Block, err = parseBlock(block)
			ended = append(ended, h)
			return err
		})
		if err == nil && len(ended) > 0 {
			err = s.deleteEnded(ctx, pool, ended)
		}
		if err != nil {
			return err
		}
		if len(ended) < sweepBatch {
			break
		}
	}
	return s.sweepLog(ctx, pool)
}

// logRetention is the age of the log rows that the sweeper deletes. Until then, a request with the same key finds its answer there. It is much more
// than the horizon of the engines: an engine with an older cache could write a log row that another engine wrote and the sweeper deleted.
const logRetention = "24 hours"

func (s *store) sweepLog(ctx context.Context, pool ID) error {
	var covered *int64
	if err := s.db.QueryRow(ctx, coveredGet, pool).Scan(&covered); err != nil || covered == nil {
		return err
	}
	for {
		tag, err := s.db.Exec(ctx, logDelete, pool, *covered, logRetention, sweepBatch)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
	}
}

// deleteEnded deletes ended holds and the rows that ended them. An idempotency key lives longer than its hold, so it gets a row of its own.
func (s *store) deleteEnded(ctx context.Context, pool ID, ended []Hold) error {
	var kinds []int16
	var blocks [][]byte
	var seqs []int64
	for _, h := range ended {
		for _, kind := range []int16{kindHold, kindEnd} {
			kinds, blocks, seqs = append(kinds, kind), append(blocks, appendBlock(nil, h.Block)), append(seqs, h.Seq)
		}
	}
	if err := s.lost("sweep: before"); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error { //nolint:forbidigo // the product's runner knows only the product's tables
		rows, err := tx.Query(ctx, endedDelete, repeated(pool, len(kinds)), kinds, blocks, seqs)
		if err != nil {
			return err
		}
		type keyRow struct {
			block  []byte
			seq    int64
			id     *ID
			key    *string
			digest []byte
		}
		var keys []keyRow
		var k keyRow
		_, err = pgx.ForEachRow(rows, []any{&k.block, &k.seq, &k.id, &k.key, &k.digest}, func() error {
			if k.key != nil {
				keys = append(keys, k)
			}
			k = keyRow{}
			return nil
		})
		for _, k := range keys {
			if err == nil {
				_, err = tx.Exec(ctx, keyInsert, pool, k.block, k.seq, k.id, k.key, k.digest)
			}
		}
		return err
	})
}
