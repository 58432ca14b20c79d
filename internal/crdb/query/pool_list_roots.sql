-- purpose: a page of a project's root pools after a given name, sorted by name
-- index:   pools_roots_idx, projects_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.project_id = $1 AND p.parent_name = '' AND p.name > $2
ORDER BY p.name
LIMIT $3
