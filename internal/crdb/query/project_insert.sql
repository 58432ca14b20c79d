-- purpose: create a project
-- index:   projects_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO projects (id, name, display_name, description, labels, annotations, generation, revision, created_at, updated_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
