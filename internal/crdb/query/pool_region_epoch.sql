-- purpose: set a new epoch of a pool's record in a region, if the epoch is still the one that was read
-- index:   pool_regions_pkey or pool_regions_region_idx
-- rows:    1
-- locks:   the row
UPDATE pool_regions
SET epoch = $4
WHERE pool_id = $1 AND region = $2 AND epoch = $3
