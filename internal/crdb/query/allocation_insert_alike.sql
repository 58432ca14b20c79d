-- purpose: of some that are alike, hold blocks
-- index:   allocations_pkey
-- rows:    one for each block
-- locks:   the new rows
INSERT INTO allocations (
    region, project_id, container_id, base, plen, id, purpose, phase, pool_project, pool_name,
    holder_project_id, holder_project, holder_name, reclaim_policy, owner_ref, reason, since, revision, created_at, updated_at, created_by,
    class_id, class_project, class_name, cool_until)
SELECT
    $1::crdb_internal_region, $2::UUID, $3::UUID, k.base, $5::INT2, k.id, $7::TEXT, $8::TEXT, $9::TEXT, $10::TEXT,
    $11::UUID, $12::TEXT, k.holder_name, $14::TEXT, $15::JSONB, $16::TEXT, $17::TIMESTAMPTZ, k.revision, $19::TIMESTAMPTZ, $20::TIMESTAMPTZ, $21::TEXT,
    $22::UUID, $23::TEXT, $24::TEXT, $25::TIMESTAMPTZ
FROM unnest($4::BYTEA[], $6::UUID[], $13::TEXT[], $18::UUID[]) AS k (base, id, holder_name, revision)
