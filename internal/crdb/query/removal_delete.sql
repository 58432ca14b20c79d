-- purpose: end the removal of a project, because none of its rows are left
-- index:   removals_pkey
-- rows:    1
-- locks:   the row
-- roles:   retention
DELETE FROM removals
WHERE project_id = $1
