-- purpose: a page of a webhook's failed deliveries after a given id, oldest first
-- index:   deliveries_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns delivery AS d
FROM deliveries AS d
WHERE d.region = $1 AND d.project_id = $2 AND d.webhook_id = $3 AND d.id > $4 AND d.dead_at IS NOT NULL
ORDER BY d.id
LIMIT $5
