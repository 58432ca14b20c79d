-- purpose: create a key
-- index:   api_keys_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO api_keys (
    -- @columns key
)
VALUES (
    -- @params key FROM $1
)
