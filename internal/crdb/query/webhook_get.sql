-- purpose: one webhook of a project by name, in the given regions
-- index:   webhooks_pkey, deliveries_pkey
-- rows:    1 for each region, and its failed deliveries
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
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.name = $3
    LIMIT 1
) AS w
