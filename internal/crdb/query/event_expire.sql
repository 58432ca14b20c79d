-- purpose: delete the oldest rows of a project's audit trail below an id, and return the number of events in each
-- index:   audit_events_pkey
-- rows:    the limit
-- locks:   the rows
-- roles:   retention
DELETE FROM audit_events
WHERE region = $1 AND project_id = $2 AND id < coalesce((
    SELECT e.id
    FROM audit_events AS e
    WHERE e.region = $1 AND e.project_id = $2 AND e.id < $3
    ORDER BY e.id
    LIMIT 1 OFFSET $4
), $3::UUID)
RETURNING count
