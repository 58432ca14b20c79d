-- purpose: a project's pools whose names begin with a text, sorted by name, without reservations, labels and texts
-- index:   pools_name_key, projects_pkey
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns pool_lean AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.project_id = $1 AND p.name >= $2 AND p.name < $3
ORDER BY p.name
LIMIT $4
