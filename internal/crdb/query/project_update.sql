-- purpose: replace the mutable columns of a project at the revision that was read
-- index:   projects_pkey
-- rows:    1
-- locks:   the row
UPDATE projects
SET
    -- @set project_rule FROM $3
WHERE id = $1 AND revision = $2
