-- purpose: delete the members that were deleted after the backup and that the restore brought back
-- index:   none: all rows, once
-- rows:    all such members
-- locks:   the rows
-- region:  every, because the whole database was restored
DELETE FROM members
WHERE id = ANY($1::UUID[])
