-- purpose: delete a space at the revision that was read
-- index:   spaces_pkey
-- rows:    1
-- locks:   the row
DELETE FROM spaces
WHERE id = $1 AND revision = $2
