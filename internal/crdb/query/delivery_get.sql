-- purpose: one delivery of a webhook
-- index:   deliveries_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns delivery AS d
FROM deliveries AS d
WHERE d.region = $1 AND d.project_id = $2 AND d.webhook_id = $3 AND d.id = $4
