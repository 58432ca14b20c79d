-- purpose: create a key
-- index:   api_keys_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO api_keys (
    id, project_id, name, hash, role, description, expires_at, last_used_at, labels, annotations,
    generation, revision, created_at, updated_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
