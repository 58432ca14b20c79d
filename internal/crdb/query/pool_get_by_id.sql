-- purpose: one pool by id
-- index:   pools_pkey, projects_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.id = $1
