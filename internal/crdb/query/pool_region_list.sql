-- purpose: the records of given pools in the regions that serve them
-- index:   pool_regions_pkey
-- rows:    one for each region of a multi-region pool
-- locks:   none
SELECT
    -- @columns pool_region
FROM pool_regions
WHERE pool_id = ANY ($1::UUID[])
ORDER BY pool_id, region
