-- purpose: delete all stored responses of a project, with the project
-- index:   regions_ordinal_key, idempotency_keys_pkey
-- rows:    the project's keys of the last 24 hours, in all regions
-- locks:   the rows
DELETE FROM idempotency_keys
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND project_id = $1
