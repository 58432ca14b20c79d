-- purpose: create a quota
-- index:   quotas_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO quotas (
    -- @columns quota
)
VALUES (
    -- @params quota FROM $1
)
