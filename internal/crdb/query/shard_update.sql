-- purpose: replace the figures of a shard, if they are still those that were read
-- index:   quota_shards_pkey
-- rows:    1
-- locks:   the row
UPDATE quota_shards
SET used_addresses = $10, used_claims = $11, used_pools = $12, spare_addresses = $13, spare_claims = $14, spare_pools = $15
WHERE region = $1 AND quota_id = $2 AND shard = $3
    AND used_addresses = $4 AND used_claims = $5 AND used_pools = $6 AND spare_addresses = $7 AND spare_claims = $8 AND spare_pools = $9
