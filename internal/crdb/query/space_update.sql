-- purpose: replace the mutable columns of a space at the revision that was read
-- index:   spaces_pkey
-- rows:    1
-- locks:   the row
UPDATE spaces
SET
    -- @set space_rule FROM $3
WHERE id = $1 AND revision = $2
