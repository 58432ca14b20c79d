-- purpose: those of some projects that exist, by name
-- index:   projects_name_key
-- rows:    one for each name
-- locks:   none
SELECT id, name, display_name, description, labels, annotations, generation, revision, created_at, updated_at, created_by
FROM projects
WHERE name = ANY ($1::TEXT[])
ORDER BY name
