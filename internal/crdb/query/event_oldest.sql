-- purpose: the projects among the given ones that have events below an id
-- index:   audit_events_pkey
-- rows:    one probe for each project
-- locks:   none
-- The second half of the UNION never returns a row. Because of it CockroachDB runs the first half once for each row, and reads no more than its limit.
-- roles:   retention
SELECT k.project_id
FROM unnest($2::UUID[]) AS k (project_id)
CROSS JOIN LATERAL (
    (
        SELECT e.id
        FROM audit_events AS e
        WHERE e.region = $1 AND e.project_id = k.project_id AND e.id < $3
        ORDER BY e.id
        LIMIT 1
    )
    UNION ALL
    (
        SELECT e.id
        FROM audit_events AS e
        WHERE k.project_id < '00000000-0000-0000-0000-000000000000' AND e.region = $1 AND e.project_id = k.project_id AND e.id < $3
        ORDER BY e.id
        LIMIT 1
    )
) AS o
