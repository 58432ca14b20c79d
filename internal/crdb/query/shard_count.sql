-- purpose: add the changes by claims and releases to a shard, unless its spare amount is too small
-- index:   quota_shards_pkey
-- rows:    1
-- locks:   the row
-- shapes:  sure
UPDATE quota_shards
SET
    used_addresses = used_addresses + $4, used_claims = used_claims + $5, used_pools = used_pools + $6,
    spare_addresses = spare_addresses + $7, spare_claims = spare_claims + $8, spare_pools = spare_pools + $9
WHERE region = $1 AND quota_id = $2 AND shard = $3
    AND ($7 >= 0::DECIMAL OR spare_addresses + $7 >= 0) AND ($8 >= 0::INT8 OR spare_claims + $8 >= 0) AND ($9 >= 0::INT8 OR spare_pools + $9 >= 0)
