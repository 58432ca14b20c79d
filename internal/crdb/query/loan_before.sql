-- purpose: the last loan of a pool that begins before an address
-- index:   region_blocks_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns loan
FROM region_blocks
WHERE pool_id = $1 AND base < $2
ORDER BY base DESC
LIMIT 1
