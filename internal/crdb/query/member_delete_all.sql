-- purpose: delete all members of a project, with the project
-- index:   members_pkey
-- rows:    the project's members
-- locks:   the rows
DELETE FROM members
WHERE project_id = $1
