-- purpose: those of some blocks that are free: point look-ups
-- index:   free_blocks_pkey
-- rows:    one for each block named
-- locks:   none
SELECT f.host_bits, f.base
FROM unnest($3::INT2[], $4::BYTEA[]) AS k (host_bits, base)
JOIN free_blocks AS f ON f.region = $1 AND f.container_id = $2 AND f.host_bits = k.host_bits AND f.base = k.base
