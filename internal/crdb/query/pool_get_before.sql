-- purpose: the last pool carved from a container that begins at or before an address
-- index:   pools_block_key, projects_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.container_id = $1 AND p.base <= $2
ORDER BY p.base DESC
LIMIT 1
