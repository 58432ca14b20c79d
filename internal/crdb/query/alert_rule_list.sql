-- purpose: a project's alert rules of some regions after a name, by name
-- index:   alert_rules_pkey, alerts_pkey
-- rows:    the page for each region, and the alerts of each
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
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.name > $3
    ORDER BY t.name
    LIMIT $4
) AS w
ORDER BY w.name
LIMIT $4
