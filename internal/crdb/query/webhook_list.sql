-- purpose: a page of a project's webhooks after a given name, sorted by name
-- index:   webhooks_pkey, deliveries_pkey
-- rows:    the page, and the failed deliveries of each webhook
-- locks:   none
SELECT
    -- @columns webhook AS w,
    (
        SELECT count(*)
        FROM deliveries AS d
        WHERE d.region = w.region AND d.project_id = w.project_id AND d.webhook_id = w.id AND d.dead_at IS NOT NULL
    ) AS dead_letters
FROM webhooks AS w
WHERE w.region = $1 AND w.project_id = $2 AND w.name > $3
ORDER BY w.name
LIMIT $4
