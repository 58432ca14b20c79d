-- purpose: take one free block away: it must be there
-- index:   free_blocks_pkey
-- rows:    1
-- locks:   the row
DELETE FROM free_blocks
WHERE region = $1 AND container_id = $2 AND host_bits = $3 AND base = $4
