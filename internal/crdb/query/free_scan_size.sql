-- purpose: the lowest free blocks of a size from an address on
-- index:   free_blocks_pkey
-- rows:    the limit
-- locks:   none
SELECT host_bits, base
FROM free_blocks
WHERE region = $1 AND container_id = $2 AND host_bits = $3 AND base >= $4
ORDER BY base
LIMIT $5
