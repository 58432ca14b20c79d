-- purpose: attach consumers to claims
-- index:   attachments_pkey
-- rows:    one for each attachment
-- locks:   the new rows
INSERT INTO attachments (
    region,
    -- @columns attachment_row
)
SELECT
    $1::crdb_internal_region,
    -- @values attachment_row FROM $2
-- @from attachment_row FROM $2
