-- purpose: delete a quota at the revision that was read
-- index:   quotas_pkey
-- rows:    1
-- locks:   the row
DELETE FROM quotas
WHERE project_id = $1 AND name = $2 AND revision = $3
