-- purpose: replace the mutable columns of a webhook at the epoch that was read
-- index:   webhooks_pkey
-- rows:    1
-- locks:   the row
UPDATE webhooks
SET
    -- @set webhook_rule FROM $5
WHERE region = $1 AND project_id = $2 AND name = $3 AND epoch = $4
