-- purpose: write down a loan, under a new epoch, if nobody has done so since it was read
-- index:   pool_regions_pkey or pool_regions_region_idx
-- rows:    1
-- locks:   the row
UPDATE pool_regions
SET epoch = $4, loan_bits = $5, loaned_at = $6, lasted_ms = $7
WHERE pool_id = $1 AND region = $2 AND epoch = $3
