-- purpose: the shards of a quota
-- index:   quota_shards_pkey
-- rows:    one for each shard
-- locks:   the new rows
INSERT INTO quota_shards (region, quota_id, shard, used_addresses, used_claims, used_pools, spare_addresses, spare_claims, spare_pools)
SELECT $1::crdb_internal_region, k.quota_id, k.shard, k.used_addresses, k.used_claims, k.used_pools, k.spare_addresses, k.spare_claims, k.spare_pools
FROM unnest($2::UUID[], $3::INT2[], $4::DECIMAL[], $5::INT8[], $6::INT8[], $7::DECIMAL[], $8::INT8[], $9::INT8[])
    AS k (quota_id, shard, used_addresses, used_claims, used_pools, spare_addresses, spare_claims, spare_pools)
