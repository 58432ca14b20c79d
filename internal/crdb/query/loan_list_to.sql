-- purpose: a page of the loans of a pool to a region after an address
-- index:   region_blocks_pkey
-- rows:    the loans of the pool from the address to the end of the page
-- locks:   none
SELECT
    -- @columns loan
FROM region_blocks
WHERE pool_id = $1 AND base > $2 AND region = $3
ORDER BY base
LIMIT $4
