-- purpose: the key of the row in a project's history that follows a given number of rows
-- index:   history_pkey
-- rows:    that number of rows
-- locks:   none
-- roles:   retention
SELECT base, plen, until, id
FROM history
WHERE region = $1 AND project_id = $2
ORDER BY base, plen, until, id
LIMIT 1 OFFSET $3
