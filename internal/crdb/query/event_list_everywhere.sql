-- purpose: the events of a project's trail of some regions between two ids, newest first
-- index:   audit_events_pkey
-- rows:    the page for each region
-- locks:   none
SELECT
    -- @columns event_data AS e
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT
        -- @columns event_data AS t
    FROM audit_events AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.id >= $3 AND t.id < $4
    ORDER BY t.id DESC
    LIMIT $5
) AS e
ORDER BY e.id DESC
LIMIT $5
