-- purpose: delete all sessions, because the backup may contain sessions that ended after it
-- index:   none: all rows, once
-- rows:    all
-- locks:   the rows
-- region:  every, because the whole database was restored
DELETE FROM sessions
WHERE expires_at IS NOT NULL
