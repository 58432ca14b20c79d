-- purpose: of some that are alike, create claims; names that exist are left out of the answer
-- index:   claims_pkey
-- rows:    one for each claim
-- locks:   the new rows
INSERT INTO claims (
    region, project_id, name, id, pool_id, pool_project_id, pool_project, pool_name, base, plen, allocation_id, spec,
    labels, annotations, generation, revision, created_at, updated_at, created_by,
    class_id, class_project, class_name, reclaim_said, reuse_after_seconds)
SELECT
    $1::crdb_internal_region, $2::UUID, k.name, k.id, $5::UUID, $6::UUID, $7::TEXT, $8::TEXT, k.base, $10::INT2, k.allocation_id, $12::JSONB,
    $13::JSONB, $14::JSONB, $15::INT8, k.revision, $17::TIMESTAMPTZ, $18::TIMESTAMPTZ, $19::TEXT,
    $20::UUID, $21::TEXT, $22::TEXT, $23::BOOL, $24::INT8
FROM unnest($3::TEXT[], $4::UUID[], $9::BYTEA[], $11::UUID[], $16::UUID[]) AS k (name, id, base, allocation_id, revision)
ON CONFLICT (region, project_id, name) DO NOTHING
RETURNING project_id, name
