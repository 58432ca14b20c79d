package crdb

import "time"

// The position in the commit order is the read's timestamp. Every transaction that commits after this read has a later timestamp (ADR 32). After a
// crash, CockroachDB never assigns an earlier position again.
const (
	feedPlaceCockroach = `
SELECT cluster_logical_timestamp()::STRING, '', now(), f.secret::STRING, f.kept_from, 0, 0, ''
FROM feed AS f
WHERE f.id = 1`
	feedRowsCockroach = `
SELECT e.id, e.count, e.events, e.at::STRING
FROM unnest($1::STRING[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT t.id, t.count, t.events, t.crdb_internal_mvcc_timestamp AS at
    FROM audit_events AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.id > $3 AND t.crdb_internal_mvcc_timestamp > $4::STRING::DECIMAL
    ORDER BY t.id
    LIMIT $5
) AS e
ORDER BY e.id
LIMIT $5`
)

func (cockroach) feed() (position, rows, flush string) {
	return feedPlaceCockroach, feedRowsCockroach, ""
}

// beganAfter returns the earliest time at which a running transaction can have begun.
func (cockroach) beganAfter(_ []feedSeen, current feedSeen) time.Time {
	return current.at.Add(-longestTransaction)
}
