-- purpose: create a space
-- index:   spaces_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO spaces (id, project_id, name, container_v4, container_v6, region, description, labels, annotations, generation, revision, created_at, updated_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
