-- purpose: create a class
-- index:   classes_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO classes (
    id, project_id, name, af, visibility, is_default, spec, labels, annotations, generation, revision, created_at, updated_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
