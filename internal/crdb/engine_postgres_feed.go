package crdb

import (
	"strconv"
	"time"
)

// On PostgreSQL, a position in the commit order is the oldest running transaction's number. Each row that is not visible yet belongs to this
// transaction or to a later one (ADR 32).
//
// Transaction numbers can be assigned twice:
//
//   - After a failover, the promoted standby may assign them again. So the secret that seals a cursor includes the log's timeline, which changes with
//     a failover.
//   - After a crash, numbers that the log on disk does not contain may be assigned again. So the query also returns three facts about the log: its
//     insert position at the time of the read (without the header of an empty page), its flush position, and its last checkpoint, which changes with
//     a crash.
const (
	feedPlacePostgres = `
SELECT pg_snapshot_xmin(s.now)::text, pg_snapshot_xmax(s.now)::text, now(),
    f.secret::text || left(pg_walfile_name(pg_current_wal_lsn()), 8), f.kept_from,
    (s.log - '0/0'::pg_lsn)::int8 - CASE WHEN p.used = 40 THEN 40 WHEN p.used % current_setting('wal_block_size')::int4 = 24 THEN 24 ELSE 0 END,
    (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::int8,
    (SELECT c.checkpoint_lsn::text FROM pg_control_checkpoint() AS c)
FROM feed AS f
CROSS JOIN (SELECT pg_current_snapshot() AS now, pg_current_wal_insert_lsn() AS log) AS s
CROSS JOIN LATERAL (SELECT w.file_offset AS used FROM pg_walfile_name_offset(s.log) AS w) AS p
WHERE f.id = 1`
	// A row contains only the lower 32 bits of its transaction's number. The upper 32 bits equal those of the latest transaction number, or are one
	// less.
	feedRowsPostgres = `
SELECT e.id, e.count, e.events, e.number::text
FROM unnest($1::text[]) AS r (region)
CROSS JOIN (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::int8 AS number) AS last
CROSS JOIN LATERAL (
    SELECT t.id, t.count, t.events, last.number - ((last.number - t.xmin::text::int8) & 4294967295) AS number
    FROM audit_events AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.id > $3
        AND last.number - ((last.number - t.xmin::text::int8) & 4294967295) >= $4::text::int8
    ORDER BY t.id
    LIMIT $5
) AS e
ORDER BY e.id
LIMIT $5`
	// PostgreSQL flushes its log soon after a transaction with a number ends. So this statement gets a number, and its transaction ends at once.
	feedEndingPostgres = "SELECT pg_current_xact_id()::text"
)

func (postgres) feed() (position, rows, flush string) {
	return feedPlacePostgres, feedRowsPostgres, feedEndingPostgres
}

// beganAfter returns the latest known time before the oldest running transaction in current began. If a number was not yet assigned at a known time,
// the transaction with this number began after that time.
func (postgres) beganAfter(earlier []feedSeen, current feedSeen) time.Time {
	oldest, err := strconv.ParseUint(current.oldest, 10, 64)
	if err != nil {
		return time.Time{}
	}
	since := current.at.Add(-longestTransaction)
	if len(earlier) > 0 {
		since = earlier[0].at.Add(-longestTransaction)
	}
	for _, k := range append(earlier, current) {
		if next, err := strconv.ParseUint(k.next, 10, 64); err == nil && next <= oldest {
			since = k.at
		}
	}
	return since
}
