-- purpose: remove the oldest daily records before a day and return them, so that only some of their points are kept
-- index:   utilization_begins_idx, utilization_pkey
-- rows:    the limit
-- locks:   the rows
DELETE FROM utilization
WHERE region = $1 AND monthly = FALSE AND (pool_id, begins) IN (
    SELECT u.pool_id, u.begins
    FROM utilization AS u
    WHERE u.region = $1 AND u.monthly = FALSE AND u.begins < $2 AND u.latest IS NOT NULL
    ORDER BY u.begins
    LIMIT $3
)
RETURNING pool_id, begins, points
