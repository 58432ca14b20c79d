-- purpose: give blocks up: all that are named must be there
-- index:   allocations_pkey or allocations_id_key
-- rows:    one for each block
-- locks:   the rows
-- shapes:  one
DELETE FROM allocations AS a
-- @using allocation_key FROM $2
WHERE a.region = $1 AND
    -- @match allocation_key AS a FROM $2
