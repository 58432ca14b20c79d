-- purpose: a project's pools whose blocks are among some
-- index:   pools_address_idx, projects_pkey
-- rows:    the limit for each block
-- locks:   none
SELECT p.id, p.project_id, o.name, p.name, p.region, p.space_id, p.space_project, p.space_name, p.container_id, p.container_project_id, p.parent_project, p.parent_name,
    p.base, p.plen, p.by_cidr, p.visibility, p.strategy, p.min_plen, p.max_plen, p.default_plen, p.reservations, p.description,
    p.labels, p.annotations, p.generation, p.revision, p.created_at, p.updated_at, p.created_by,
    p.classes, p.reuse_after_seconds, p.scope, p.empty_since, p.regions
FROM unnest($2::BYTEA[], $3::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT c.id, c.project_id, c.name, c.region, c.space_id, c.space_project, c.space_name, c.container_id, c.container_project_id, c.parent_project, c.parent_name,
        c.base, c.plen, c.by_cidr, c.visibility, c.strategy, c.min_plen, c.max_plen, c.default_plen, c.reservations, c.description,
        c.labels, c.annotations, c.generation, c.revision, c.created_at, c.updated_at, c.created_by,
        c.classes, c.reuse_after_seconds, c.scope, c.empty_since, c.regions
    FROM pools AS c
    WHERE c.project_id = $1 AND c.base = k.base AND c.plen = k.plen
    LIMIT $4
) AS p
JOIN projects AS o ON o.id = p.project_id
LIMIT $4
