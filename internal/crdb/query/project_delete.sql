-- purpose: delete a project at the revision that was read
-- index:   projects_pkey
-- rows:    1
-- locks:   the row
DELETE FROM projects
WHERE id = $1 AND revision = $2
