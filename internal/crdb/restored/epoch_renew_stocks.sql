-- purpose: set the same new epochs for the regions' rows
-- index:   stocks_pkey
-- rows:    the given ones
-- locks:   the rows
UPDATE stocks AS t
SET epoch = k.fresh
FROM unnest($1::UUID[], $2::TEXT[], $3::UUID[], $4::UUID[]) AS k (pool_id, region, was, fresh)
WHERE t.region = k.region::crdb_internal_region AND t.pool_id = k.pool_id AND t.epoch = k.was
