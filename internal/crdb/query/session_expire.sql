-- purpose: delete some expired sessions
-- index:   sessions_expires_idx, sessions_pkey
-- rows:    the limit
-- locks:   the rows
DELETE FROM sessions
WHERE hash IN (
    SELECT s.hash
    FROM sessions AS s
    WHERE s.expires_at <= $1
    ORDER BY s.expires_at
    LIMIT $2
)
