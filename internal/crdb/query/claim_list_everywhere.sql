-- purpose: a project's claims of all its regions after a name, by name
-- index:   project_regions_pkey, claims_pkey
-- rows:    the page for each of the project's regions
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
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.name > $2
    ORDER BY t.name
    LIMIT $3
) AS c
WHERE g.project_id = $1
ORDER BY c.name
LIMIT $3
