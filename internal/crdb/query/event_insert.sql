-- purpose: add events to trails
-- index:   audit_events_pkey
-- rows:    one for each event
-- locks:   the new rows
-- shapes:  alike, one
INSERT INTO audit_events (
    region,
    -- @columns event_row
)
SELECT
    $1::crdb_internal_region,
    -- @values event_row FROM $2
-- @from event_row FROM $2
