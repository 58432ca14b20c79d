-- purpose: a project's own classes whose names begin with a text, sorted by name
-- index:   classes_name_key, projects_pkey
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns class AS c,
    o.name AS project
FROM classes AS c
JOIN projects AS o ON o.id = c.project_id
WHERE c.project_id = $1 AND c.name >= $2 AND c.name < $3
ORDER BY c.name
LIMIT $4
