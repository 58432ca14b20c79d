-- purpose: whether what a server remembers of a project's classes, and of the platform's, is what they are
-- index:   projects_name_key
-- rows:    2
-- locks:   none
SELECT id, class_epoch
FROM projects
WHERE name IN ($1, 'platform')
