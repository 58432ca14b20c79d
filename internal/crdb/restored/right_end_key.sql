-- purpose: delete the keys that were deleted after the backup and that the restore brought back
-- index:   none: all rows, once
-- rows:    all such keys
-- locks:   the rows
-- region:  every, because the whole database was restored
DELETE FROM api_keys
WHERE id = ANY($1::UUID[])
