-- purpose: add holds that ended
-- index:   history_pkey
-- rows:    one for each hold
-- locks:   the new rows
-- shapes:  alike, one
INSERT INTO history (
    region,
    -- @columns hold_row
)
SELECT
    $1::crdb_internal_region,
    -- @values hold_row FROM $2
-- @from hold_row FROM $2
