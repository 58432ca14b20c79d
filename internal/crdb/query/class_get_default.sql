-- purpose: the default class of an address family in a project
-- index:   classes_default_key, projects_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns class AS c,
    o.name AS project
FROM classes AS c
JOIN projects AS o ON o.id = c.project_id
WHERE c.project_id = $1 AND c.af = $2 AND c.is_default
