-- purpose: the place in a project's history that some rows come before
-- index:   history_pkey
-- rows:    as many as come before
-- locks:   none
-- roles:   retention
SELECT base, plen, until, id
FROM history
WHERE region = $1 AND project_id = $2
ORDER BY base, plen, until, id
LIMIT 1 OFFSET $3
