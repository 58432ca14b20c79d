-- purpose: the rows of a project's trail of some regions that hold so many events between two ids, newest first; as event_list
-- index:   audit_events_pkey
-- rows:    at most one for each event of the page, for each region
-- locks:   none
SELECT
    -- @columns event_data AS e
FROM (
    SELECT
        -- @columns event_data AS n,
        sum(n.count) OVER newest_first - n.count - first_value(n.count) OVER newest_first AS newer
    FROM (
        SELECT
            -- @columns event_data AS o
        FROM unnest($1::TEXT[]) AS r (region)
        CROSS JOIN LATERAL (
            SELECT
                -- @columns event_data AS t
            FROM audit_events AS t
            WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.id >= $3 AND t.id < $4
            ORDER BY t.id DESC
            LIMIT $5
        ) AS o
    ) AS n
    WINDOW newest_first AS (ORDER BY n.id DESC)
) AS e
WHERE e.newer < $5::INT8
ORDER BY e.id DESC
