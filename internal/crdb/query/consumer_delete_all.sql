-- purpose: delete all consumers of a project, with the project
-- index:   regions_ordinal_key, consumers_pkey
-- rows:    the project's consumers
-- locks:   the rows
DELETE FROM consumers
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND project_id = $1
