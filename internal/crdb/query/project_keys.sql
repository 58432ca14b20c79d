-- purpose: the names of projects by id
-- index:   projects_pkey
-- rows:    one for each project
-- locks:   none
SELECT id, name
FROM projects
WHERE id = ANY ($1::UUID[])
