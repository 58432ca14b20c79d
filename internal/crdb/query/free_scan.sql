-- purpose: for each given size, the lowest free blocks from an address on
-- index:   free_blocks_pkey
-- rows:    the limit for each size
-- locks:   none
SELECT f.host_bits, f.base
FROM unnest($3::INT2[]) AS s (host_bits)
CROSS JOIN LATERAL (
    SELECT b.host_bits, b.base
    FROM free_blocks AS b
    WHERE b.region = $1 AND b.container_id = $2 AND b.host_bits = s.host_bits AND b.base >= $4
    ORDER BY b.base
    LIMIT $5
) AS f
