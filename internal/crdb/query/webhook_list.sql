-- purpose: a project's webhooks of some regions after a name, by name
-- index:   webhooks_pkey, deliveries_pkey
-- rows:    the page for each region, and what was given up of each
-- locks:   none
SELECT
    -- @columns webhook AS w,
    (
        SELECT count(*)
        FROM deliveries AS d
        WHERE d.region = w.region AND d.project_id = w.project_id AND d.webhook_id = w.id AND d.dead_at IS NOT NULL
    ) AS dead_letters
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT
        -- @columns webhook AS t
    FROM webhooks AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.name > $3
    ORDER BY t.name
    LIMIT $4
) AS w
ORDER BY w.name
LIMIT $4
