-- purpose: delete the shards of all quotas of a project, with the project
-- index:   quotas_pkey, regions_ordinal_key, quota_shards_pkey
-- rows:    16 in each region for each of the project's quotas
-- locks:   the rows
DELETE FROM quota_shards AS s
USING quotas AS q
WHERE s.region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND s.quota_id = q.id AND q.project_id = $1
