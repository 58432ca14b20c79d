-- purpose: a project's claims on a pool, by address
-- index:   allocations_pkey, then one probe of claims_pkey for each: LATERAL with LIMIT says so whatever the statistics are
-- rows:    the page
-- locks:   none
SELECT c.name, c.id, c.region, c.pool_id, c.pool_project_id, c.pool_project, c.pool_name, c.base, c.plen, c.allocation_id, c.spec,
    c.labels, c.annotations, c.generation, c.revision, c.created_at, c.updated_at, c.created_by,
    c.class_id, c.class_project, c.class_name, c.reclaim_said, c.reuse_after_seconds
FROM allocations AS a
CROSS JOIN LATERAL (
    SELECT t.name, t.id, t.region, t.pool_id, t.pool_project_id, t.pool_project, t.pool_name, t.base, t.plen, t.allocation_id, t.spec,
        t.labels, t.annotations, t.generation, t.revision, t.created_at, t.updated_at, t.created_by,
        t.class_id, t.class_project, t.class_name, t.reclaim_said, t.reuse_after_seconds
    FROM claims AS t
    WHERE t.region = $1 AND t.project_id = $7 AND t.name = a.holder_name AND t.allocation_id = a.id
    LIMIT 1
) AS c
WHERE a.region = $1 AND a.project_id = $2 AND a.container_id = $3 AND a.base > $4 AND a.base >= $5 AND a.base <= $6
    AND a.holder_project_id = $7
ORDER BY a.base
LIMIT $8
