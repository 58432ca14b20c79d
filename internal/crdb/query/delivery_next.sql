-- purpose: the next delivery for a webhook: a failed delivery that a user wants to send again, otherwise the delivery in progress
-- index:   deliveries_pkey
-- rows:    the webhook's failed deliveries
-- locks:   none
SELECT
    -- @columns delivery AS d
FROM deliveries AS d
WHERE d.region = $1 AND d.project_id = $2 AND d.webhook_id = $3 AND (d.dead_at IS NULL OR d.retry)
ORDER BY d.retry DESC, d.id
LIMIT 1
