-- purpose: pools carved from a container that begin in a range of addresses, to find those that overlap a block
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
