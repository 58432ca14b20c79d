-- purpose: delete old tombstones of consumers
-- index:   consumers_ended_idx, consumers_pkey
-- rows:    the limit
-- locks:   the rows
DELETE FROM consumers
WHERE region = $1 AND (project_id, realm, uid) IN (
    SELECT c.project_id, c.realm, c.uid
    FROM consumers AS c
    WHERE c.region = $1 AND c.ended_at < $2 AND c.ended_at IS NOT NULL AND NOT c.draining
    ORDER BY c.ended_at
    LIMIT $3
)
