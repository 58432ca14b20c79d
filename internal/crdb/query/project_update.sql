-- purpose: replace what can change of a project at the revision that was read
-- index:   projects_pkey
-- rows:    1
-- locks:   the row
UPDATE projects
SET display_name = $3, description = $4, labels = $5, annotations = $6, generation = $7, revision = $8, updated_at = $9
WHERE id = $1 AND revision = $2
