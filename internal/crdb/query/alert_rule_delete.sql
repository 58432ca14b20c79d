-- purpose: delete an alert rule at the epoch that was read
-- index:   alert_rules_pkey
-- rows:    1
-- locks:   the row
DELETE FROM alert_rules
WHERE region = $1 AND project_id = $2 AND name = $3 AND epoch = $4
