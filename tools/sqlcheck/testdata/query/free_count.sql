-- purpose: counts the free blocks of a pool by length
-- index: free_blocks_pkey
-- rows: all of the pool's
-- locks: none
-- region: every, because the audit looks at the whole pool
SELECT plen, count(*) FROM free_blocks WHERE pool_id = $1 GROUP BY plen
