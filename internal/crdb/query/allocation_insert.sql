-- purpose: hold blocks
-- index:   allocations_pkey
-- rows:    one for each block
-- locks:   the new rows
-- shapes:  alike, one
INSERT INTO allocations (
    region,
    -- @columns allocation_row
)
SELECT
    $1::crdb_internal_region,
    -- @values allocation_row FROM $2
-- @from allocation_row FROM $2
