-- purpose: add daily points to the monthly records of pools that still exist
-- index:   utilization_pkey, pools_pkey
-- rows:    one for each pool and month
-- locks:   the rows
INSERT INTO utilization (region, pool_id, monthly, begins, latest, points)
SELECT $1::crdb_internal_region, r.pool_id, TRUE, r.begins, r.latest, r.points
FROM unnest($2::UUID[], $3::TIMESTAMPTZ[], $4::TIMESTAMPTZ[], $5::BYTEA[]) AS r (pool_id, begins, latest, points)
JOIN pools AS p ON p.id = r.pool_id
ON CONFLICT (region, pool_id, monthly, begins) DO UPDATE
SET latest = excluded.latest, points = utilization.points || excluded.points
