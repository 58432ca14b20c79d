-- purpose: the names of some projects
-- index:   projects_pkey
-- rows:    one for each
-- locks:   none
SELECT id, name
FROM projects
WHERE id = ANY ($1::UUID[])
