-- purpose: the fences of containers in one or more regions, from one snapshot
-- index:   fences_pkey
-- rows:    one for each container
-- locks:   none
-- region:  every, because one request reads a pool's fences in all its regions; each row is found by its whole key
SELECT c.region, c.id, f.mark, f.stock
FROM unnest($1::TEXT[], $2::UUID[]) AS c (region, id)
CROSS JOIN LATERAL (
    SELECT b.mark, b.stock
    FROM fences AS b
    WHERE b.region = c.region::crdb_internal_region AND b.id = c.id
    LIMIT 1
) AS f
