-- purpose: pools that were carved for scopes, after an id, each with its class and with whether anything but reservations is held in it
-- index:   pools_scoped_idx, projects_pkey, classes_pkey, allocations_pkey
-- rows:    the page, and a probe of allocations for each
-- locks:   none
SELECT p.id, p.project_id, o.name, p.name, p.region, p.space_id, p.space_project, p.space_name, p.container_id, p.container_project_id, p.parent_project, p.parent_name,
    p.base, p.plen, p.by_cidr, p.visibility, p.strategy, p.min_plen, p.max_plen, p.default_plen, p.reservations, p.description,
    p.labels, p.annotations, p.generation, p.revision, p.created_at, p.updated_at, p.created_by,
    p.classes, p.reuse_after_seconds, p.scope, p.empty_since, p.regions,
    c.spec, h.n > 0
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
JOIN classes AS c ON c.id = p.scope_class_id
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM (
        SELECT a.base
        FROM allocations AS a
        WHERE a.region = $1 AND a.project_id = p.project_id AND a.container_id = p.id AND a.purpose <> 'Reservation'
        ORDER BY a.base
        LIMIT 1
    ) AS f
) AS h
WHERE p.region = $1 AND p.id > $2 AND p.scope_key IS NOT NULL
ORDER BY p.id
LIMIT $3
