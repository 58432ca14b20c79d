-- purpose: end the oldest sessions of a holder that has too many
-- index:   sessions_holder_idx, sessions_pkey
-- rows:    those of the holder: as many as it may have, and those that were just made
-- locks:   the rows
DELETE FROM sessions
WHERE hash IN (
    SELECT s.hash
    FROM sessions AS s
    WHERE s.holder = $1
    ORDER BY s.created_at DESC
    OFFSET $2
)
