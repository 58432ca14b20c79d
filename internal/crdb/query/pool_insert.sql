-- purpose: create a pool; if it is for a scope that has one by now, no row is made, and whoever wanted it looks again
-- index:   pools_pkey, pools_scope_key
-- rows:    1
-- locks:   the new row
INSERT INTO pools (
    id, project_id, name, region, space_id, space_project, space_name, container_id, container_project_id, parent_project, parent_name,
    af, base, plen, by_cidr, visibility, strategy, min_plen, max_plen, default_plen, reservations, description,
    labels, annotations, generation, revision, created_at, updated_at, created_by,
    classes, reuse_after_seconds, scope, scope_class_id, scope_project_id, scope_key, empty_since, regions)
VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
    $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
    $23, $24, $25, $26, $27, $28, $29,
    $30, $31, $32, $33, $34, $35, $36, $37)
ON CONFLICT (scope_class_id, scope_project_id, scope_key) WHERE scope_class_id IS NOT NULL DO NOTHING
