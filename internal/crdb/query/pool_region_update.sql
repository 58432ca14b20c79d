-- purpose: record a loan with a new epoch, if the epoch is still the one that was read
-- index:   pool_regions_pkey or pool_regions_region_idx
-- rows:    1
-- locks:   the row
UPDATE pool_regions
SET epoch = $4, loan_bits = $5, loaned_at = $6, lasted_ms = $7
WHERE pool_id = $1 AND region = $2 AND epoch = $3
