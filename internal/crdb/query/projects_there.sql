-- purpose: the projects among the given ids that exist; a claim must not use a deleted project
-- index:   projects_pkey
-- rows:    one for each id
-- locks:   none
SELECT id
FROM projects
WHERE id = ANY ($1::UUID[])
