-- purpose: a project's shared pools that are granted to a consumer, by name or to everybody, and carry all of some labels, after a name, by name
-- index:   projects_name_key, pools_name_key, grants_pkey
-- rows:    the project's pools up to the end of the page, and a probe or two of grants for each
-- locks:   none
SELECT p.id, p.project_id, o.name, p.name, p.region, p.space_id, p.space_project, p.space_name, p.container_id, p.container_project_id, p.parent_project, p.parent_name,
    p.base, p.plen, p.by_cidr, p.visibility, p.strategy, p.min_plen, p.max_plen, p.default_plen, p.reservations, p.description,
    p.labels, p.annotations, p.generation, p.revision, p.created_at, p.updated_at, p.created_by,
    p.classes, p.reuse_after_seconds, p.scope, p.empty_since, p.regions
FROM projects AS o
JOIN pools AS p ON p.project_id = o.id
CROSS JOIN LATERAL (
    SELECT t.id
    FROM grants AS t
    WHERE t.subject_id = p.id AND t.consumer IN ($2, '*')
    LIMIT 1
) AS g
WHERE o.name = $1 AND p.visibility = 'shared' AND p.labels @> $3::JSONB AND p.name > $4
ORDER BY p.name
LIMIT $5
