-- purpose: one alert rule of a project by name, in the given regions
-- index:   alert_rules_pkey, alerts_pkey
-- rows:    1 for each region, and its alerts
-- locks:   none
SELECT
    -- @columns alert_rule AS w,
    (
        SELECT count(*)
        FROM alerts AS a
        WHERE a.region = w.region AND a.project_id = w.project_id AND a.rule = w.name
    ) AS alerts
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT
        -- @columns alert_rule AS t
    FROM alert_rules AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.name = $3
    LIMIT 1
) AS w
