-- purpose: a page of a project's members after a given subject, sorted by subject
-- index:   members_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns member AS m
FROM members AS m
WHERE m.project_id = $1 AND m.subject > $2
ORDER BY m.subject
LIMIT $3
