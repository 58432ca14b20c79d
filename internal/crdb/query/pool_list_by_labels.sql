-- purpose: a page of a project's pools that have all the given labels, after a given name, sorted by name
-- index:   pools_name_key, projects_pkey
-- rows:    the project's pools up to the end of the page
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.project_id = $1 AND p.labels @> $2::JSONB AND p.name > $3
ORDER BY p.name
LIMIT $4
