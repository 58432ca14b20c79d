-- purpose: add events to audit trails
-- index:   audit_events_pkey
-- rows:    mostly one for each project, with all its events
-- locks:   the new rows
-- shapes:  one
INSERT INTO audit_events (
    region,
    -- @columns event_row
)
SELECT
    $1::crdb_internal_region,
    -- @values event_row FROM $2
-- @from event_row FROM $2
