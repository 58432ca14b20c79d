-- purpose: set a new version (class_epoch) of a project's classes, so that servers read the classes and their pools again
-- index:   projects_pkey
-- rows:    1
-- locks:   the row
UPDATE projects
SET class_epoch = $2
WHERE id = $1
