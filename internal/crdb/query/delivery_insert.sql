-- purpose: record a delivery before it is sent to a webhook
-- index:   deliveries_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO deliveries (
    -- @columns delivery
)
VALUES (
    -- @params delivery FROM $1
)
