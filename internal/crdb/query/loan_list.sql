-- purpose: a page of the loans of a pool that begin inside a block
-- index:   region_blocks_pkey
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns loan
FROM region_blocks
WHERE pool_id = $1 AND base BETWEEN $2 AND $3
ORDER BY base
LIMIT $4
