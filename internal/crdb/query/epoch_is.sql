-- purpose: fail unless a pool's rows in a region have the same epoch as the record of the region's loans
-- index:   pool_regions_pkey or pool_regions_region_idx, stocks_pkey
-- rows:    1
-- locks:   none
SELECT 1 / (count(*) = 1)::INT4
FROM pool_regions AS r
CROSS JOIN LATERAL (
    SELECT s.epoch
    FROM stocks AS s
    WHERE s.region = $2::crdb_internal_region AND s.pool_id = r.pool_id AND s.epoch = r.epoch
    LIMIT 1
) AS s
WHERE r.pool_id = $1 AND r.region = $3
