-- purpose: of one, create claims; names that exist are left out of the answer
-- index:   claims_pkey
-- rows:    1
-- locks:   the new rows
INSERT INTO claims (
    region, project_id, name, id, pool_id, pool_project_id, pool_project, pool_name, base, plen, allocation_id, spec,
    labels, annotations, generation, revision, created_at, updated_at, created_by,
    class_id, class_project, class_name, reclaim_said, reuse_after_seconds)
SELECT
    $1::crdb_internal_region, k.project_id, k.name, k.id, k.pool_id, k.pool_project_id, k.pool_project, k.pool_name, k.base, k.plen, k.allocation_id, k.spec::JSONB,
    k.labels::JSONB, k.annotations::JSONB, k.generation, k.revision, k.created_at, k.updated_at, k.created_by,
    k.class_id, k.class_project, k.class_name, k.reclaim_said, k.reuse_after_seconds
FROM (VALUES (
    $2::UUID, $3::TEXT, $4::UUID, $5::UUID, $6::UUID, $7::TEXT, $8::TEXT, $9::BYTEA, $10::INT2, $11::UUID, $12::TEXT,
    $13::TEXT, $14::TEXT, $15::INT8, $16::UUID, $17::TIMESTAMPTZ, $18::TIMESTAMPTZ, $19::TEXT,
    $20::UUID, $21::TEXT, $22::TEXT, $23::BOOL, $24::INT8
)) AS k (
    project_id, name, id, pool_id, pool_project_id, pool_project, pool_name, base, plen, allocation_id, spec,
    labels, annotations, generation, revision, created_at, updated_at, created_by,
    class_id, class_project, class_name, reclaim_said, reuse_after_seconds)
ON CONFLICT (region, project_id, name) DO NOTHING
RETURNING project_id, name
