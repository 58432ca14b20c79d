-- purpose: the newest rows of a project's audit trail between two ids that together contain enough events. The newest row does not count, because its first events may lie above the upper id.
-- index:   audit_events_pkey
-- rows:    at most one for each event of the page
-- locks:   none
SELECT
    -- @columns event_data AS e
FROM (
    SELECT
        -- @columns event_data AS n,
        sum(n.count) OVER newest_first - n.count - first_value(n.count) OVER newest_first AS newer
    FROM (
        SELECT
            -- @columns event_data AS t
        FROM audit_events AS t
        WHERE t.region = $1 AND t.project_id = $2 AND t.id >= $3 AND t.id < $4
        ORDER BY t.id DESC
        LIMIT $5
    ) AS n
    WINDOW newest_first AS (ORDER BY n.id DESC)
) AS e
WHERE e.newer < $5::INT8
ORDER BY e.id DESC
