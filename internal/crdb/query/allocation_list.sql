-- purpose: a page of a project's allocations, sorted by container and address
-- index:   holds_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns held AS a
FROM holds AS a
WHERE a.region = $1 AND a.project_id = $2 AND (a.container_id, a.base) > ($3, $4) AND a.purpose <> 'RootPool'
ORDER BY a.container_id, a.base
LIMIT $5
