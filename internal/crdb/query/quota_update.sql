-- purpose: replace what can change of a quota at the revision that was read
-- index:   quotas_pkey
-- rows:    1
-- locks:   the row
UPDATE quotas
SET pool_project = $4, pool_name = $5, class_project = $6, class_name = $7, af = $8, limit_addresses = $9, limit_claims = $10, limit_pools = $11,
    overdrawn = $12, description = $13, generation = $14, revision = $15, updated_at = $16, owner = $17
WHERE project_id = $1 AND name = $2 AND revision = $3
