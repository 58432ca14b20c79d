-- purpose: the pool of one scope
-- index:   pools_scope_key, projects_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.scope_class_id = $1 AND p.scope_project_id = $2 AND p.scope_key = $3 AND p.scope_class_id IS NOT NULL
