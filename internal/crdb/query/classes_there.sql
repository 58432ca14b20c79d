-- purpose: the classes among the given ids that exist; a claim must not use a deleted class
-- index:   classes_pkey
-- rows:    one for each id
-- locks:   none
SELECT id
FROM classes
WHERE id = ANY ($1::UUID[])
