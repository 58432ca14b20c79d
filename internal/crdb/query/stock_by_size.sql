-- purpose: free blocks of some containers, counted by size
-- index:   free_blocks_pkey
-- rows:    the free rows of the containers
-- locks:   none
SELECT container_id, host_bits, count(*)
FROM free_blocks
WHERE region = $1 AND container_id = ANY ($2::UUID[])
GROUP BY container_id, host_bits
