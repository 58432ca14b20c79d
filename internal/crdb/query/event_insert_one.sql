-- purpose: of one, add events to trails
-- index:   audit_events_pkey
-- rows:    1
-- locks:   the new rows
INSERT INTO audit_events (region, project_id, id, at, subject, method, remote, request_id, operation, kind, name, outcome, before, after)
SELECT $1::crdb_internal_region, k.project_id, k.id, k.at, k.subject, k.method, k.remote, k.request_id, k.operation, k.kind, k.name, k.outcome, k.before::JSONB, k.after::JSONB
FROM (VALUES (
    $2::UUID, $3::UUID, $4::TIMESTAMPTZ, $5::TEXT, $6::TEXT, $7::TEXT, $8::TEXT, $9::TEXT, $10::TEXT, $11::TEXT, $12::TEXT, $13::TEXT, $14::TEXT
)) AS k (project_id, id, at, subject, method, remote, request_id, operation, kind, name, outcome, before, after)
