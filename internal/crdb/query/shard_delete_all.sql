-- purpose: delete the shards of all quotas of a project, with the project
-- index:   quotas_pkey, quota_shards_pkey
-- rows:    16 for each of the project's quotas
-- locks:   the rows
DELETE FROM quota_shards
WHERE region = $1 AND quota_id IN (SELECT q.id FROM quotas AS q WHERE q.project_id = $2)
