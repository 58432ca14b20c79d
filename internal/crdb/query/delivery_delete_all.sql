-- purpose: delete all deliveries of a project, with the project
-- index:   regions_ordinal_key, deliveries_pkey
-- rows:    the project's deliveries
-- locks:   the rows
DELETE FROM deliveries
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND project_id = $1
