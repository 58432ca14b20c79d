-- purpose: the blocks among the given ones that are free
-- index:   free_blocks_pkey
-- rows:    one for each block
-- locks:   none
SELECT f.host_bits, f.base
FROM unnest($3::INT2[], $4::BYTEA[]) AS k (host_bits, base)
CROSS JOIN LATERAL (
    SELECT b.host_bits, b.base
    FROM free_blocks AS b
    WHERE b.region = $1 AND b.container_id = $2 AND b.host_bits = k.host_bits AND b.base = k.base
    LIMIT 1
) AS f
