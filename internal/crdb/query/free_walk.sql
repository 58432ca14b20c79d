-- purpose: free blocks of the containers up to an id, in order of the key, after one of them: a page
-- index:   free_blocks_pkey
-- rows:    the limit
-- locks:   none
SELECT f.container_id, f.host_bits, f.base
FROM free_blocks AS f
WHERE f.region = $1 AND (f.container_id, f.host_bits, f.base) > ($2, $3, $4) AND f.container_id <= $5
ORDER BY f.container_id, f.host_bits, f.base
LIMIT $6
