-- purpose: add free blocks
-- index:   free_blocks_pkey
-- rows:    one for each block
-- locks:   the new rows
-- shapes:  alike, one
INSERT INTO free_blocks (
    region,
    -- @columns free_row
)
SELECT
    $1::crdb_internal_region,
    -- @values free_row FROM $2
-- @from free_row FROM $2
