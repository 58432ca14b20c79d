-- purpose: all roles of a subject, by project
-- index:   members_subject_key, projects_pkey
-- rows:    the projects of which the subject is a member
-- locks:   none
SELECT m.project_id, o.name, m.role
FROM members AS m
JOIN projects AS o ON o.id = m.project_id
WHERE m.subject = $1
