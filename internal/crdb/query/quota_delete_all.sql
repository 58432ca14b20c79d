-- purpose: delete all quotas of a project, with the project
-- index:   quotas_pkey
-- rows:    the project's quotas
-- locks:   the rows
DELETE FROM quotas
WHERE project_id = $1
