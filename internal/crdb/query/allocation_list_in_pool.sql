-- purpose: a page of the blocks that are held in a container, sorted by address
-- index:   holds_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns held AS a
FROM holds AS a
WHERE a.region = $1 AND a.project_id = $2 AND a.container_id = $3 AND a.base > $4 AND a.base >= $5 AND a.base <= $6
ORDER BY a.base
LIMIT $7
