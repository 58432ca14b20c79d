-- purpose: delete all classes of a project, with the project
-- index:   classes_name_key
-- rows:    the project's classes
-- locks:   the rows
DELETE FROM classes
WHERE project_id = $1
