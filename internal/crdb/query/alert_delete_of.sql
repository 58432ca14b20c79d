-- purpose: delete all alerts of a rule, with it
-- index:   alerts_pkey
-- rows:    those of the rule
-- locks:   the rows
DELETE FROM alerts
WHERE region = $1 AND project_id = $2 AND rule = $3
