-- purpose: grant a pool or space to a consumer
-- index:   grants_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO grants (
    -- @columns grant
)
VALUES (
    -- @params grant FROM $1
)
