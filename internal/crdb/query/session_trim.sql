-- purpose: end the oldest sessions of a holder, so that a maximum number remains
-- index:   sessions_holder_idx, sessions_pkey
-- rows:    the holder's sessions: the maximum, and those that were just created
-- locks:   the rows
DELETE FROM sessions
WHERE hash IN (
    SELECT s.hash
    FROM sessions AS s
    WHERE s.holder = $1
    ORDER BY s.created_at DESC
    OFFSET $2
)
