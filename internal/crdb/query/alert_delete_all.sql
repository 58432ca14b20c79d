-- purpose: delete all alerts of a project, with the project
-- index:   regions_ordinal_key, alerts_pkey
-- rows:    the project's alerts
-- locks:   the rows
DELETE FROM alerts
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND project_id = $1
