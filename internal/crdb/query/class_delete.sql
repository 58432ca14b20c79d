-- purpose: delete a class at the revision that was read
-- index:   classes_pkey
-- rows:    1
-- locks:   the row
DELETE FROM classes
WHERE id = $1 AND revision = $2
