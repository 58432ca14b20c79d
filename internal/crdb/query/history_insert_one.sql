-- purpose: of one, holds that ended
-- index:   history_pkey
-- rows:    1
-- locks:   the new rows
INSERT INTO history (
    region, project_id, base, plen, until, id, since, pool_project, pool_name, purpose, phase, allocation_id, holder_project, holder_name)
SELECT
    $1::crdb_internal_region, k.project_id, k.base, k.plen, k.until, k.id, k.since, k.pool_project, k.pool_name, k.purpose, k.phase, k.allocation_id, k.holder_project, k.holder_name
FROM (VALUES (
    $2::UUID, $3::BYTEA, $4::INT2, $5::TIMESTAMPTZ, $6::UUID, $7::TIMESTAMPTZ, $8::TEXT, $9::TEXT, $10::TEXT, $11::TEXT, $12::UUID, $13::TEXT, $14::TEXT
)) AS k (
    project_id, base, plen, until, id, since, pool_project, pool_name, purpose, phase, allocation_id, holder_project, holder_name)
