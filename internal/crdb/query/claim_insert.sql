-- purpose: create claims; names that exist are left out of the answer
-- index:   claims_pkey
-- rows:    one for each claim
-- locks:   the new rows
-- shapes:  alike, one
INSERT INTO claims (
    region,
    -- @columns claim_row
)
SELECT
    $1::crdb_internal_region,
    -- @values claim_row FROM $2
-- @from claim_row FROM $2
ON CONFLICT (region, project_id, name) DO NOTHING
RETURNING project_id, name
