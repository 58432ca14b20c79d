-- purpose: begin to serve a pool in a region
-- index:   pool_regions_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO pool_regions (pool_id, region, epoch, loan_bits, loaned_at, lasted_ms)
VALUES ($1, $2, $3, $4, $5, $6)
