-- purpose: a project's allocations of some regions, by container and address
-- index:   allocations_pkey
-- rows:    the page for each region
-- locks:   none
SELECT
    -- @columns allocation AS a
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT
        -- @columns allocation AS b
    FROM allocations AS b
    WHERE b.region = r.region::crdb_internal_region AND b.project_id = $2 AND (b.container_id, b.base) > ($3, $4) AND b.purpose <> 'RootPool'
    ORDER BY b.container_id, b.base
    LIMIT $5
) AS a
ORDER BY a.container_id, a.base
LIMIT $5
