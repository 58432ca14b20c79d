-- purpose: replace what can change of a webhook as it was read
-- index:   webhooks_pkey
-- rows:    1
-- locks:   the row
UPDATE webhooks
SET
    -- @set webhook_rule FROM $5
WHERE region = $1 AND project_id = $2 AND name = $3 AND epoch = $4
