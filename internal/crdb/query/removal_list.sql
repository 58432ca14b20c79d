-- purpose: a page of deleted projects after a given id
-- index:   removals_pkey
-- rows:    the limit
-- locks:   none
-- roles:   retention
SELECT project_id
FROM removals
WHERE project_id > $1
ORDER BY project_id
LIMIT $2
