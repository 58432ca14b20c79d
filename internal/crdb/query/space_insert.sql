-- purpose: create a space
-- index:   spaces_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO spaces (
    -- @columns space
)
VALUES (
    -- @params space FROM $1
)
