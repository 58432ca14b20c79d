-- purpose: take free blocks away: all that are named must be there
-- index:   free_blocks_pkey
-- rows:    one for each block
-- locks:   the rows
-- shapes:  one
DELETE FROM free_blocks AS f
-- @using free FROM $3
WHERE f.region = $1 AND f.container_id = $2 AND
    -- @match free AS f FROM $3
