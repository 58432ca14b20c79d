-- purpose: delete a project's history up to a place
-- index:   history_pkey
-- rows:    those before the place
-- locks:   the rows
-- roles:   retention
DELETE FROM history
WHERE region = $1 AND project_id = $2 AND (base, plen, until, id) < ($3, $4, $5, $6)
