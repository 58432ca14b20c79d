-- purpose: which of some containers, of several regions, have a free block of a size or larger, all at one moment
-- index:   free_blocks_pkey
-- rows:    one probe for each container
-- locks:   none
-- region:  every, because only when no region of a pool has room is the pool full
SELECT c.id, c.region
FROM unnest($1::TEXT[], $2::UUID[], $3::INT2[]) AS c (region, id, host_bits)
CROSS JOIN LATERAL (
    SELECT b.host_bits
    FROM free_blocks AS b
    WHERE b.region = c.region::crdb_internal_region AND b.container_id = c.id AND b.host_bits >= c.host_bits
    ORDER BY b.host_bits
    LIMIT 1
) AS f
