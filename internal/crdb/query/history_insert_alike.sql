-- purpose: of some that are alike, holds that ended
-- index:   history_pkey
-- rows:    one for each hold
-- locks:   the new rows
INSERT INTO history (
    region, project_id, base, plen, until, id, since, pool_project, pool_name, purpose, phase, allocation_id, holder_project, holder_name)
SELECT
    $1::crdb_internal_region, $2::UUID, k.base, $4::INT2, $5::TIMESTAMPTZ, k.id, k.since, $8::TEXT, $9::TEXT, $10::TEXT, $11::TEXT, k.allocation_id, $13::TEXT, k.holder_name
FROM unnest($3::BYTEA[], $6::UUID[], $7::TIMESTAMPTZ[], $12::UUID[], $14::TEXT[]) AS k (base, id, since, allocation_id, holder_name)
