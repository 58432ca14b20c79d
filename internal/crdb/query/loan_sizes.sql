-- purpose: count the loans of given pools by region and prefix length
-- index:   region_blocks_pkey
-- rows:    the loans of the pools
-- locks:   none
SELECT pool_id, region, plen, count(*)
FROM region_blocks
WHERE pool_id = ANY ($1::UUID[])
GROUP BY pool_id, region, plen
