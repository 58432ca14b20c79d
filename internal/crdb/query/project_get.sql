-- purpose: one project by name
-- index:   projects_name_key
-- rows:    1
-- locks:   none
SELECT id, name, display_name, description, labels, annotations, generation, revision, created_at, updated_at, created_by
FROM projects
WHERE name = $1
