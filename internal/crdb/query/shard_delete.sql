-- purpose: delete all shards of a quota, with the quota
-- index:   regions_ordinal_key, quota_shards_pkey
-- rows:    16 in each region
-- locks:   the rows
DELETE FROM quota_shards
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND quota_id = $1
