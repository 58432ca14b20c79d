-- purpose: delete the oldest monthly records, up to a limit, that began before a time
-- index:   utilization_begins_idx, utilization_pkey
-- rows:    the limit
-- locks:   the rows
DELETE FROM utilization
WHERE region = $1 AND monthly = TRUE AND (pool_id, begins) IN (
    SELECT u.pool_id, u.begins
    FROM utilization AS u
    WHERE u.region = $1 AND u.monthly = TRUE AND u.begins < $2 AND u.latest IS NOT NULL
    ORDER BY u.begins
    LIMIT $3
)
