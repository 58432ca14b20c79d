-- purpose: which of some containers have a free block of a size or larger
-- index:   free_blocks_pkey
-- rows:    one probe for each container
-- locks:   none
SELECT c.id
FROM unnest($2::UUID[], $3::INT2[]) AS c (id, host_bits)
CROSS JOIN LATERAL (
    SELECT b.host_bits
    FROM free_blocks AS b
    WHERE b.region = $1 AND b.container_id = c.id AND b.host_bits >= c.host_bits
    ORDER BY b.host_bits
    LIMIT 1
) AS f
