-- purpose: replace what can change of a class at the revision that was read
-- index:   classes_pkey
-- rows:    1
-- locks:   the row
UPDATE classes
SET visibility = $3, is_default = $4, spec = $5, labels = $6, annotations = $7, generation = $8, revision = $9, updated_at = $10
WHERE id = $1 AND revision = $2
