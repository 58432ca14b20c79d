-- purpose: end loans
-- index:   region_blocks_pkey
-- rows:    one for each loan
-- locks:   the rows
DELETE FROM region_blocks AS b
USING unnest($3::BYTEA[], $4::INT2[]) AS k (base, plen)
WHERE b.pool_id = $1 AND b.region = $2 AND b.base = k.base AND b.plen = k.plen
