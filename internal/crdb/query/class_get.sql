-- purpose: one class of a project by name
-- index:   classes_name_key, projects_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns class AS c,
    o.name AS project
FROM classes AS c
JOIN projects AS o ON o.id = c.project_id
WHERE c.project_id = $1 AND c.name = $2
