-- purpose: those of some classes that exist: what claims are made in, or by, must not be gone
-- index:   classes_pkey
-- rows:    one for each id
-- locks:   none
SELECT id
FROM classes
WHERE id = ANY ($1::UUID[])
