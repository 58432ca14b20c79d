-- purpose: replace what can change of a space at the revision that was read
-- index:   spaces_pkey
-- rows:    1
-- locks:   the row
UPDATE spaces
SET description = $3, labels = $4, annotations = $5, generation = $6, revision = $7, updated_at = $8
WHERE id = $1 AND revision = $2
