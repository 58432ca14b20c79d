-- purpose: create a quota
-- index:   quotas_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO quotas (
    id, project_id, name, pool_project, pool_name, class_project, class_name, af, limit_addresses, limit_claims, limit_pools, overdrawn, description,
    generation, revision, created_at, updated_at, created_by, owner)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
