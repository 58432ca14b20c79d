-- purpose: a project's claims after a name, by name
-- index:   claims_pkey
-- rows:    the page
-- locks:   none
SELECT c.name, c.id, c.region, c.pool_id, c.pool_project_id, c.pool_project, c.pool_name, c.base, c.plen, c.allocation_id, c.spec,
    c.labels, c.annotations, c.generation, c.revision, c.created_at, c.updated_at, c.created_by,
    c.class_id, c.class_project, c.class_name, c.reclaim_said, c.reuse_after_seconds
FROM claims AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.name > $3
ORDER BY c.name
LIMIT $4
