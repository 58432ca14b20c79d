-- purpose: end the service of a pool in a region
-- index:   pool_regions_pkey or pool_regions_region_idx
-- rows:    1
-- locks:   the row
DELETE FROM pool_regions
WHERE pool_id = $1 AND region = $2 AND epoch = $3
