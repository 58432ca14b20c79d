-- purpose: add free blocks
-- index:   free_blocks_pkey
-- rows:    one for each block
-- locks:   the new rows
INSERT INTO free_blocks (
    region, container_id,
    -- @columns free
)
SELECT
    $1::crdb_internal_region, $2::UUID,
    -- @values free FROM $3
-- @from free FROM $3
