-- purpose: one pool of a project by name
-- index:   pools_name_key, projects_pkey
-- rows:    1
-- locks:   none
SELECT p.id, p.project_id, o.name, p.name, p.region, p.space_id, p.space_project, p.space_name, p.container_id, p.container_project_id, p.parent_project, p.parent_name,
    p.base, p.plen, p.by_cidr, p.visibility, p.strategy, p.min_plen, p.max_plen, p.default_plen, p.reservations, p.description,
    p.labels, p.annotations, p.generation, p.revision, p.created_at, p.updated_at, p.created_by,
    p.classes, p.reuse_after_seconds, p.scope, p.empty_since, p.regions
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.project_id = $1 AND p.name = $2
