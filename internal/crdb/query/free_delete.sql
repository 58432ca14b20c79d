-- purpose: take free blocks away: all that are named must be there
-- index:   free_blocks_pkey
-- rows:    one for each block
-- locks:   the rows
DELETE FROM free_blocks AS f
USING unnest($3::INT2[], $4::BYTEA[]) AS k (host_bits, base)
WHERE f.region = $1 AND f.container_id = $2 AND f.host_bits = k.host_bits AND f.base = k.base
