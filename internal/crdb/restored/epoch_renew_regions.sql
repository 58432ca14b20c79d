-- purpose: set new epochs in loan records whose epochs are still those that were read
-- index:   pool_regions_pkey
-- rows:    the given ones
-- locks:   the rows
UPDATE pool_regions AS r
SET epoch = k.fresh
FROM unnest($1::UUID[], $2::TEXT[], $3::UUID[], $4::UUID[]) AS k (pool_id, region, was, fresh)
WHERE r.pool_id = k.pool_id AND r.region = k.region::crdb_internal_region AND r.epoch = k.was
