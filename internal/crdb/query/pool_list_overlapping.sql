-- purpose: pools carved from a container that overlap a block: those that begin inside it, and the last that begins before it
-- index:   pools_block_key, projects_pkey
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE p.container_id = $1 AND p.base >= $2 AND p.base <= $3
ORDER BY p.base
LIMIT $4
