-- purpose: of each of some addresses the last block that begins at it or before it in any region of a pool; each block once, in order of address
-- index:   holds_pkey
-- rows:    one probe for each address and region
-- locks:   none
SELECT DISTINCT ON (a.base)
    -- @columns held AS a
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($4::BYTEA[]) AS k (last)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS b
    FROM holds AS b
    WHERE b.region = r.region::crdb_internal_region AND b.project_id = $2 AND b.container_id = $3 AND b.base <= k.last
    ORDER BY b.base DESC
    LIMIT 1
) AS a
ORDER BY a.base
