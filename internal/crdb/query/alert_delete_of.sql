-- purpose: delete all alerts of a rule, with the rule
-- index:   alerts_pkey
-- rows:    the rule's alerts
-- locks:   the rows
DELETE FROM alerts
WHERE region = $1 AND project_id = $2 AND rule = $3
