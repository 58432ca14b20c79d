-- purpose: a page of free blocks of the given sizes after a given block, largest first
-- index:   free_blocks_pkey
-- rows:    the page for each size
-- locks:   none
SELECT f.host_bits, f.base
FROM unnest($3::INT2[], $4::BYTEA[]) AS s (host_bits, after)
CROSS JOIN LATERAL (
    SELECT b.host_bits, b.base
    FROM free_blocks AS b
    WHERE b.region = $1 AND b.container_id = $2 AND b.host_bits = s.host_bits AND b.base > s.after
    ORDER BY b.base
    LIMIT $5
) AS f
ORDER BY f.host_bits DESC, f.base
LIMIT $5
