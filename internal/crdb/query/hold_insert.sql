-- purpose: hold blocks for claims or for other purposes; a claim whose name is in use violates holds_name_key
-- index:   holds_pkey, holds_name_key
-- rows:    one for each block
-- locks:   the new rows
-- shapes:  alike, one
INSERT INTO holds (
    region,
    -- @columns held_row
)
SELECT
    $1::crdb_internal_region,
    -- @values held_row FROM $2
-- @from held_row FROM $2
