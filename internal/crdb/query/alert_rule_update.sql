-- purpose: replace the mutable columns of an alert rule at the epoch that was read
-- index:   alert_rules_pkey
-- rows:    1
-- locks:   the row
UPDATE alert_rules
SET
    -- @set alert_rule_rule FROM $5
WHERE region = $1 AND project_id = $2 AND name = $3 AND epoch = $4
