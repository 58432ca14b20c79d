-- purpose: delete a delivery
-- index:   deliveries_pkey
-- rows:    1
-- locks:   the row
DELETE FROM deliveries
WHERE region = $1 AND project_id = $2 AND webhook_id = $3 AND id = $4
