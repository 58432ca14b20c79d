-- purpose: the smallest free blocks of at least a given size, lowest address first within a size
-- index:   free_blocks_pkey
-- rows:    the limit
-- locks:   none
SELECT host_bits, base
FROM free_blocks
WHERE region = $1 AND container_id = $2 AND host_bits >= $3 AND host_bits <= $4
ORDER BY host_bits, base
LIMIT $5
