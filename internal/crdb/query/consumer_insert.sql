-- purpose: create consumers; an existing one stays unchanged
-- index:   consumers_pkey
-- rows:    one for each consumer
-- locks:   the new rows
INSERT INTO consumers (
    region,
    -- @columns consumer_row
)
SELECT
    $1::crdb_internal_region,
    -- @values consumer_row FROM $2
-- @from consumer_row FROM $2
ON CONFLICT (region, project_id, realm, uid) DO NOTHING
