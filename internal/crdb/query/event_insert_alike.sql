-- purpose: of some that are alike, add events to trails
-- index:   audit_events_pkey
-- rows:    one for each event
-- locks:   the new rows
INSERT INTO audit_events (region, project_id, id, at, subject, method, remote, request_id, operation, kind, name, outcome, before, after)
SELECT $1::crdb_internal_region, $2::UUID, k.id, $4::TIMESTAMPTZ, $5::TEXT, $6::TEXT, k.remote, k.request_id, $9::TEXT, $10::TEXT, k.name, $12::TEXT, k.before::JSONB, k.after::JSONB
FROM unnest($3::UUID[], $7::TEXT[], $8::TEXT[], $11::TEXT[], $13::TEXT[], $14::TEXT[]) AS k (id, remote, request_id, name, before, after)
