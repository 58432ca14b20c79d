-- purpose: a project's allocations of some regions, by container and address
-- index:   holds_pkey
-- rows:    the page for each region
-- locks:   none
SELECT
    -- @columns held AS a
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS b
    FROM holds AS b
    WHERE b.region = r.region::crdb_internal_region AND b.project_id = $2 AND (b.container_id, b.base) > ($3, $4) AND b.purpose <> 'RootPool'
    ORDER BY b.container_id, b.base
    LIMIT $5
) AS a
ORDER BY a.container_id, a.base
LIMIT $5
