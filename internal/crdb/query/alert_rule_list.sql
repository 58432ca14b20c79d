-- purpose: a page of a project's alert rules after a given name, sorted by name
-- index:   alert_rules_pkey, alerts_pkey
-- rows:    the page, and the alerts of each
-- locks:   none
SELECT
    -- @columns alert_rule AS w,
    (
        SELECT count(*)
        FROM alerts AS a
        WHERE a.region = w.region AND a.project_id = w.project_id AND a.rule = w.name
    ) AS alerts
FROM alert_rules AS w
WHERE w.region = $1 AND w.project_id = $2 AND w.name > $3
ORDER BY w.name
LIMIT $4
