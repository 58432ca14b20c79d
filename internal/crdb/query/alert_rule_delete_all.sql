-- purpose: delete all alert rules of a project, with the project
-- index:   regions_ordinal_key, alert_rules_pkey
-- rows:    the project's alert rules
-- locks:   the rows
DELETE FROM alert_rules
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND project_id = $1
