-- purpose: nothing of a project is left
-- index:   removals_pkey
-- rows:    1
-- locks:   the row
-- roles:   retention
DELETE FROM removals
WHERE project_id = $1
