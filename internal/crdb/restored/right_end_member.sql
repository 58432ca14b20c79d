-- purpose: end again what was ended since the backup was made
-- index:   none: all rows, once
-- rows:    all that were ended
-- locks:   the rows
-- region:  every, because the whole database was restored
DELETE FROM members
WHERE id = ANY($1::UUID[])
