-- purpose: replace what can change of an alert rule as it was read
-- index:   alert_rules_pkey
-- rows:    1
-- locks:   the row
UPDATE alert_rules
SET
    -- @set alert_rule_rule FROM $5
WHERE region = $1 AND project_id = $2 AND name = $3 AND epoch = $4
