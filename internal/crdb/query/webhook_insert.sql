-- purpose: create a webhook
-- index:   webhooks_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO webhooks (
    -- @columns webhook
)
VALUES (
    -- @params webhook FROM $1
)
