-- purpose: the two epochs of a pool in a region: the epoch of the loan record, and the epoch of the region's rows
-- index:   pool_regions_pkey or pool_regions_region_idx, stocks_pkey
-- rows:    1
-- locks:   none
SELECT r.epoch, s.epoch
FROM pool_regions AS r
LEFT JOIN LATERAL (
    SELECT t.epoch
    FROM stocks AS t
    WHERE t.region = $2 AND t.pool_id = r.pool_id
    LIMIT 1
) AS s ON true
WHERE r.pool_id = $1 AND r.region = $2
