-- purpose: record the result of an attempt to deliver
-- index:   deliveries_pkey
-- rows:    1
-- locks:   the row
UPDATE deliveries
SET
    -- @set delivery_rule FROM $5
WHERE region = $1 AND project_id = $2 AND webhook_id = $3 AND id = $4
