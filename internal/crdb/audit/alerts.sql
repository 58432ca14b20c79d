-- purpose: the name of an alert rule is unique in its project, which exists; every alert has an existing rule, and its subject is of the kind that the rule watches
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT r.project_id::TEXT, count(*)::TEXT || ' alert rules are called ' || r.name
FROM alert_rules AS r
GROUP BY r.project_id, r.name
HAVING count(*) > 1
UNION ALL
SELECT r.project_id::TEXT, 'alert rule ' || r.name || ' of a project that is not there'
FROM alert_rules AS r
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = r.project_id)
UNION ALL
SELECT a.project_id::TEXT, 'alert ' || a.rule || '/' || a.subject || ' of a rule that is not there, or is about something else'
FROM alerts AS a
WHERE NOT EXISTS (
    SELECT 1
    FROM alert_rules AS r
    WHERE r.region = a.region AND r.project_id = a.project_id AND r.name = a.rule AND r.id = a.rule_id AND r.spec ->> 'about' = a.about
)
UNION ALL
SELECT a.project_id::TEXT, 'alert ' || a.rule || '/' || a.subject || ' began at ' || a.began::TEXT || ' hundredths of a percent'
FROM alerts AS a
WHERE a.began < 0 OR a.began > 10000
