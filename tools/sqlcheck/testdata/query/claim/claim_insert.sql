-- purpose: takes one free block of the wanted length and writes the allocation, in one statement
-- index: free_blocks_pkey, allocations_pkey
-- rows: one of each table,
--   at any size of the pool
-- locks: the free row
WITH pick AS (
    SELECT region, pool_id, plen, base
    FROM free_blocks
    WHERE region = $1 AND pool_id = $2 AND plen = $3 AND base >= $4
    ORDER BY base
    LIMIT 1
    FOR UPDATE SKIP LOCKED
), taken AS (
    DELETE FROM free_blocks AS f
    USING pick
    WHERE f.region = pick.region AND f.pool_id = pick.pool_id AND f.plen = pick.plen AND f.base = pick.base
    RETURNING f.region, f.pool_id, f.plen, f.base
)
INSERT INTO allocations (region, pool_id, base, plen, claim_key, created_at)
SELECT region, pool_id, base, plen, $5::UUID, $6::TIMESTAMPTZ
FROM taken
RETURNING base, plen
