-- purpose: in each of some pools, in a region that serves it, the last block that begins at an address or before it: if any holds the address, it is this one
-- index:   holds_pkey
-- rows:    one probe for each pool and region
-- locks:   none
SELECT
    -- @columns held AS a
FROM unnest($1::TEXT[], $2::UUID[], $3::UUID[]) AS k (region, project_id, container_id)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS t
    FROM holds AS t
    WHERE t.region = k.region::crdb_internal_region AND t.project_id = k.project_id AND t.container_id = k.container_id AND t.base <= $4
    ORDER BY t.base DESC
    LIMIT 1
) AS a
