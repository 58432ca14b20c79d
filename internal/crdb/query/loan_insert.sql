-- purpose: record loans of blocks
-- index:   region_blocks_pkey
-- rows:    one for each loan
-- locks:   the new rows
INSERT INTO region_blocks (pool_id, base, plen, region, lent_at)
SELECT $1::UUID, k.base, k.plen, $2::crdb_internal_region, k.lent_at
FROM unnest($3::BYTEA[], $4::INT2[], $5::TIMESTAMPTZ[]) AS k (base, plen, lent_at)
