-- purpose: one claim of a project by name, in the other regions in which the project may have claims
-- index:   project_regions_pkey, claims_pkey
-- rows:    one probe for each of the project's other regions: none for a project that works in one
-- locks:   none
SELECT c.name, c.id, c.region, c.pool_id, c.pool_project_id, c.pool_project, c.pool_name, c.base, c.plen, c.allocation_id, c.spec,
    c.labels, c.annotations, c.generation, c.revision, c.created_at, c.updated_at, c.created_by,
    c.class_id, c.class_project, c.class_name, c.reclaim_said, c.reuse_after_seconds
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT t.name, t.id, t.region, t.pool_id, t.pool_project_id, t.pool_project, t.pool_name, t.base, t.plen, t.allocation_id, t.spec,
        t.labels, t.annotations, t.generation, t.revision, t.created_at, t.updated_at, t.created_by,
        t.class_id, t.class_project, t.class_name, t.reclaim_said, t.reuse_after_seconds
    FROM claims AS t
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.name = $3
    LIMIT 1
) AS c
WHERE g.project_id = $2 AND g.region <> $1
