-- purpose: the two epochs of every pool in every region that it serves
-- index:   pool_regions_pkey, stocks_pkey
-- rows:    every pool in several regions, times its regions
-- locks:   none
SELECT r.pool_id, r.region::TEXT, r.epoch, s.epoch
FROM pool_regions AS r
LEFT JOIN LATERAL (
    SELECT t.epoch
    FROM stocks AS t
    WHERE t.region = r.region AND t.pool_id = r.pool_id
    LIMIT 1
) AS s ON true
ORDER BY r.pool_id, r.region
