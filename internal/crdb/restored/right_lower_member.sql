-- purpose: give a member again the lower role that it got after the backup
-- index:   none: all rows, once
-- rows:    1
-- locks:   the row
-- region:  every, because the whole database was restored
UPDATE members
SET role = $2, revision = $3, updated_at = clock_timestamp()
WHERE id = $1
