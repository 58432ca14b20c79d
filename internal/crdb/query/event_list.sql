-- purpose: the events of a project's trail between two ids, newest first
-- index:   audit_events_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns event_data AS e
FROM audit_events AS e
WHERE e.region = $1 AND e.project_id = $2 AND e.id >= $3 AND e.id < $4
ORDER BY e.id DESC
LIMIT $5
