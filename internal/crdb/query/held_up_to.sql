-- purpose: for each given block the first held block in it, and the last held block before the first given one, in all regions of a pool; without duplicates, sorted by address
-- index:   holds_pkey
-- rows:    one probe for each block and region, and one more for each region
-- locks:   none
SELECT DISTINCT ON (a.base)
    -- @columns held AS a
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($4::BYTEA[], $5::BYTEA[]) AS k (first, last)
CROSS JOIN LATERAL (
    (
        SELECT
            -- @columns held AS b
        FROM holds AS b
        WHERE b.region = r.region::crdb_internal_region AND b.project_id = $2 AND b.container_id = $3 AND b.base >= k.first AND b.base <= k.last
        ORDER BY b.base
        LIMIT 1
    )
    UNION ALL
    (
        SELECT
            -- @columns held AS b
        FROM holds AS b
        WHERE k.first = $6 AND b.region = r.region::crdb_internal_region AND b.project_id = $2 AND b.container_id = $3 AND b.base < k.first
        ORDER BY b.base DESC
        LIMIT 1
    )
) AS a
ORDER BY a.base
