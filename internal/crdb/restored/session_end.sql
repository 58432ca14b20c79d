-- purpose: end all sessions: one that was ended since the backup was made would be there again
-- index:   none: all rows, once
-- rows:    all
-- locks:   the rows
-- region:  every, because the whole database was restored
DELETE FROM sessions
WHERE expires_at IS NOT NULL
