-- purpose: delete all webhooks of a project, with the project
-- index:   regions_ordinal_key, webhooks_pkey
-- rows:    the project's webhooks
-- locks:   the rows
DELETE FROM webhooks
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND project_id = $1
