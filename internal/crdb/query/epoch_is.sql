-- purpose: fail unless a pool's rows in a region are of the time of the record of what the region was lent
-- index:   pool_regions_pkey or pool_regions_region_idx, stocks_pkey
-- rows:    1
-- locks:   none
SELECT 1 / (count(*) = 1)::INT
FROM pool_regions AS r
JOIN stocks AS s ON s.region = $2::crdb_internal_region AND s.pool_id = r.pool_id AND s.epoch = r.epoch
WHERE r.pool_id = $1 AND r.region = $3
