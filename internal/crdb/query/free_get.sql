-- purpose: check whether a block is free
-- index:   free_blocks_pkey
-- rows:    1
-- locks:   none
SELECT host_bits, base
FROM free_blocks
WHERE region = $1 AND container_id = $2 AND host_bits = $3 AND base = $4
