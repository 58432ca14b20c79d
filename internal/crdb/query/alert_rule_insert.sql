-- purpose: create an alert rule
-- index:   alert_rules_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO alert_rules (
    -- @columns alert_rule
)
VALUES (
    -- @params alert_rule FROM $1
)
