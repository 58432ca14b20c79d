-- purpose: those of some projects that exist: what claims are made in, or by, must not be gone
-- index:   projects_pkey
-- rows:    one for each id
-- locks:   none
SELECT id
FROM projects
WHERE id = ANY ($1::UUID[])
