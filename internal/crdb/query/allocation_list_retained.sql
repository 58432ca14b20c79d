-- purpose: a page of a project's retained allocations in pools of any project, sorted by the pool's project, container and address
-- index:   holds_retained_idx
-- rows:    the project's retained allocations in the given regions: few, but each page reads all of them, because OFFSET keeps a planner without statistics from using the order of addresses
-- locks:   none
SELECT
    -- @columns held AS a
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS b
    FROM holds AS b
    WHERE b.region = r.region::crdb_internal_region AND b.holder_project_id = $2 AND b.phase = 'Retained'
    OFFSET 0
) AS a
WHERE (a.project_id, a.container_id, a.base) > ($3, $4, $5)
ORDER BY a.project_id, a.container_id, a.base
LIMIT $6
