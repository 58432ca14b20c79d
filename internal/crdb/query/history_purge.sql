-- purpose: delete the rows of a project's history before a key
-- index:   history_pkey
-- rows:    the rows before the key
-- locks:   the rows
-- roles:   retention
DELETE FROM history
WHERE region = $1 AND project_id = $2 AND (base, plen, until, id) < ($3, $4, $5, $6)
