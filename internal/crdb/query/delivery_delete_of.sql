-- purpose: delete all deliveries of a webhook, with the webhook
-- index:   deliveries_pkey
-- rows:    the webhook's deliveries
-- locks:   the rows
DELETE FROM deliveries
WHERE region = $1 AND project_id = $2 AND webhook_id = $3
