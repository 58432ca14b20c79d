-- purpose: the events of a project's trail of some regions between two ids, newest first
-- index:   audit_events_pkey
-- rows:    the page for each region
-- locks:   none
SELECT e.id, e.at, e.subject, e.method, e.remote, e.request_id, e.operation, e.kind, e.name, e.outcome, e.before, e.after
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT t.id, t.at, t.subject, t.method, t.remote, t.request_id, t.operation, t.kind, t.name, t.outcome, t.before, t.after
    FROM audit_events AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.id >= $3 AND t.id < $4
    ORDER BY t.id DESC
    LIMIT $5
) AS e
ORDER BY e.id DESC
LIMIT $5
