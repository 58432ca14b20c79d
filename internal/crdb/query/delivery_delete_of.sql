-- purpose: delete all deliveries of a webhook, with it
-- index:   deliveries_pkey
-- rows:    those of the webhook
-- locks:   the rows
DELETE FROM deliveries
WHERE region = $1 AND project_id = $2 AND webhook_id = $3
