-- purpose: pools of a project by name
-- index:   pools_name_key, projects_pkey
-- rows:    one for each name
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.project_id = $1 AND p.name = ANY ($2::TEXT[])
