-- purpose: delete all shards of a quota, with the quota
-- index:   quota_shards_pkey
-- rows:    16
-- locks:   the rows
DELETE FROM quota_shards
WHERE region = $1 AND quota_id = $2
