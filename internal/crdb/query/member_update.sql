-- purpose: replace what can change of a member at the revision that was read
-- index:   members_pkey or members_subject_key
-- rows:    1
-- locks:   the row
UPDATE members
SET role = $4, generation = $5, revision = $6, updated_at = $7
WHERE project_id = $1 AND subject = $2 AND revision = $3
