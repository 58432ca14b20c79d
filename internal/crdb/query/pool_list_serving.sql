-- purpose: a page of the pools that are served in a region besides others
-- index:   pool_regions_region_idx, pools_pkey, projects_pkey
-- rows:    the limit
-- locks:   none
SELECT p.id, p.project_id, o.name, p.name, p.region, p.space_id, p.space_project, p.space_name, p.container_id, p.container_project_id, p.parent_project, p.parent_name,
    p.base, p.plen, p.by_cidr, p.visibility, p.strategy, p.min_plen, p.max_plen, p.default_plen, p.reservations, p.description,
    p.labels, p.annotations, p.generation, p.revision, p.created_at, p.updated_at, p.created_by,
    p.classes, p.reuse_after_seconds, p.scope, p.empty_since, p.regions
FROM pool_regions AS r
JOIN pools AS p ON p.id = r.pool_id
JOIN projects AS o ON o.id = p.project_id
WHERE r.region = $1 AND r.pool_id > $2
ORDER BY r.pool_id
LIMIT $3
