-- purpose: alert rules that are due for evaluation, earliest due time first
-- index:   alert_rules_due_idx
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns alert_rule AS r,
    0::INT8 AS alerts
FROM alert_rules AS r
WHERE r.region = $1 AND r.due_at <= $2
ORDER BY r.due_at
LIMIT $3
