-- purpose: delete all keys of a project, with the project
-- index:   api_keys_name_key
-- rows:    the project's keys
-- locks:   the rows
DELETE FROM api_keys
WHERE project_id = $1
