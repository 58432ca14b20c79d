-- purpose: delete the shards of all quotas of a project, with the project
-- index:   quotas_pkey, regions_ordinal_key, quota_shards_pkey
-- rows:    16 in each region for each of the project's quotas
-- locks:   the rows
DELETE FROM quota_shards
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0))
    AND quota_id = ANY (ARRAY(SELECT q.id FROM quotas AS q WHERE q.project_id = $1))
