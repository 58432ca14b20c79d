-- purpose: add points to today's records of pools, unless another server has added one since a time
-- index:   utilization_pkey, pools_pkey
-- rows:    one for each pool
-- locks:   the rows
INSERT INTO utilization (region, pool_id, monthly, begins, latest, points)
SELECT $1::crdb_internal_region, r.pool_id, FALSE, $2::TIMESTAMPTZ, $3::TIMESTAMPTZ, r.points
FROM unnest($5::UUID[], $6::BYTEA[]) AS r (pool_id, points)
JOIN pools AS p ON p.id = r.pool_id
ON CONFLICT (region, pool_id, monthly, begins) DO UPDATE
SET latest = excluded.latest, points = utilization.points || excluded.points
WHERE utilization.latest < $4
