-- purpose: a project's claims on a pool, by address
-- index:   allocations_pkey, claims_pkey
-- rows:    the page
-- locks:   none
SELECT c.name, c.id, c.region, c.pool_id, c.pool_project_id, c.pool_project, c.pool_name, c.base, c.plen, c.allocation_id, c.spec,
    c.labels, c.annotations, c.generation, c.revision, c.created_at, c.updated_at, c.created_by
FROM allocations AS a
JOIN claims AS c ON c.region = a.region AND c.project_id = a.holder_project_id AND c.name = a.holder_name AND c.allocation_id = a.id
WHERE a.region = $1 AND a.project_id = $2 AND a.container_id = $3 AND a.base > $4 AND a.base >= $5 AND a.base <= $6
    AND a.holder_project_id = $7
ORDER BY a.base
LIMIT $8
