-- purpose: end a session
-- index:   sessions_pkey
-- rows:    1
-- locks:   the row
DELETE FROM sessions
WHERE hash = $1
