-- purpose: delete free blocks; all given blocks must be free
-- index:   free_blocks_pkey
-- rows:    one for each block
-- locks:   the rows
-- shapes:  alike, one, keys, sure
DELETE FROM free_blocks AS f
-- @using free_row FROM $2
WHERE f.region = $1 AND
    -- @match free_row AS f FROM $2
