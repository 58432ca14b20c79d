-- purpose: a page of a project's claims on a pool, sorted by address
-- index:   holds_pkey
-- rows:    the page, and blocks of other holders between its rows
-- locks:   none
SELECT
    -- @columns held AS c
FROM holds AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.container_id = $3 AND c.base > $4 AND c.base >= $5 AND c.base <= $6
    AND c.holder_project_id = $7 AND c.name IS NOT NULL
ORDER BY c.base
LIMIT $8
