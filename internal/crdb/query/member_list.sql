-- purpose: a project's members after a subject, by subject
-- index:   members_pkey
-- rows:    the page
-- locks:   none
SELECT m.id, m.subject, m.role, m.generation, m.revision, m.created_at, m.updated_at, m.created_by
FROM members AS m
WHERE m.project_id = $1 AND m.subject > $2
ORDER BY m.subject
LIMIT $3
