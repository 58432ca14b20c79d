-- purpose: projects after a name, by name
-- index:   projects_name_key
-- rows:    the page
-- locks:   none
-- roles:   server, retention
SELECT id, name, display_name, description, labels, annotations, generation, revision, created_at, updated_at, created_by
FROM projects
WHERE name > $1
ORDER BY name
LIMIT $2
