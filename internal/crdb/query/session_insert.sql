-- purpose: create a session
-- index:   sessions_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO sessions (
    -- @columns session
)
VALUES (
    -- @params session FROM $1
)
