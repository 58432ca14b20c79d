-- purpose: note what is about to be sent to a webhook
-- index:   deliveries_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO deliveries (
    -- @columns delivery
)
VALUES (
    -- @params delivery FROM $1
)
