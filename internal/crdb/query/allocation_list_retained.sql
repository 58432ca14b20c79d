-- purpose: what a project has retained in pools of any project, by the pool's project, container and address
-- index:   holds_retained_idx
-- rows:    what the project has retained, in some regions: few; all of it for each page, because OFFSET keeps a planner without statistics from going by address
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
