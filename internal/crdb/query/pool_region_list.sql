-- purpose: some pools in the regions that they serve
-- index:   pool_regions_pkey
-- rows:    one for each region of a pool that serves several
-- locks:   none
SELECT
    -- @columns pool_region
FROM pool_regions
WHERE pool_id = ANY ($1::UUID[])
ORDER BY pool_id, region
