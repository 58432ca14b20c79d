-- purpose: replace the mutable columns of a class at the revision that was read
-- index:   classes_pkey
-- rows:    1
-- locks:   the row
UPDATE classes
SET
    -- @set class_rule FROM $3
WHERE id = $1 AND revision = $2
