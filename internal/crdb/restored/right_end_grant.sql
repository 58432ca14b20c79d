-- purpose: delete the grants that were deleted after the backup and that the restore brought back
-- index:   none: all rows, once
-- rows:    all such grants
-- locks:   the rows
-- region:  every, because the whole database was restored
DELETE FROM grants
WHERE id = ANY($1::UUID[])
