-- purpose: what is to be sent to a webhook: what is to be sent once more, and then what is being sent
-- index:   deliveries_pkey
-- rows:    what was given up of it
-- locks:   none
SELECT
    -- @columns delivery AS d
FROM deliveries AS d
WHERE d.region = $1 AND d.project_id = $2 AND d.webhook_id = $3 AND (d.dead_at IS NULL OR d.retry)
ORDER BY d.retry DESC, d.id
LIMIT 1
