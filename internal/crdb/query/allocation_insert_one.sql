-- purpose: of one, hold blocks
-- index:   allocations_pkey
-- rows:    1
-- locks:   the new rows
INSERT INTO allocations (
    region, project_id, container_id, base, plen, id, purpose, phase, pool_project, pool_name,
    holder_project_id, holder_project, holder_name, reclaim_policy, owner_ref, reason, since, revision, created_at, updated_at, created_by,
    class_id, class_project, class_name, cool_until)
SELECT
    $1::crdb_internal_region, k.project_id, k.container_id, k.base, k.plen, k.id, k.purpose, k.phase, k.pool_project, k.pool_name,
    k.holder_project_id, k.holder_project, k.holder_name, k.reclaim_policy, k.owner_ref::JSONB, k.reason, k.since, k.revision, k.created_at, k.updated_at, k.created_by,
    k.class_id, k.class_project, k.class_name, k.cool_until
FROM (VALUES (
    $2::UUID, $3::UUID, $4::BYTEA, $5::INT2, $6::UUID, $7::TEXT, $8::TEXT, $9::TEXT, $10::TEXT,
    $11::UUID, $12::TEXT, $13::TEXT, $14::TEXT, $15::TEXT, $16::TEXT, $17::TIMESTAMPTZ, $18::UUID, $19::TIMESTAMPTZ, $20::TIMESTAMPTZ, $21::TEXT,
    $22::UUID, $23::TEXT, $24::TEXT, $25::TIMESTAMPTZ
)) AS k (
    project_id, container_id, base, plen, id, purpose, phase, pool_project, pool_name,
    holder_project_id, holder_project, holder_name, reclaim_policy, owner_ref, reason, since, revision, created_at, updated_at, created_by,
    class_id, class_project, class_name, cool_until)
