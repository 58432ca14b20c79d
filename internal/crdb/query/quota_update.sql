-- purpose: replace what can change of a quota at the revision that was read
-- index:   quotas_pkey
-- rows:    1
-- locks:   the row
UPDATE quotas
SET pool_project = $4, pool_name = $5, af = $6, limit_addresses = $7, limit_claims = $8, limit_pools = $9, overdrawn = $10, description = $11,
    generation = $12, revision = $13, updated_at = $14
WHERE project_id = $1 AND name = $2 AND revision = $3
