-- purpose: write the fences of all containers, with new versions (marks) and the counted stocks
-- index:   fences_pkey
-- rows:    the given ones
-- locks:   the rows
INSERT INTO fences (region, id, mark, stock)
SELECT k.region::crdb_internal_region, k.id, k.mark, k.stock
FROM unnest($1::TEXT[], $2::UUID[], $3::UUID[], $4::BYTEA[]) AS k (region, id, mark, stock)
ON CONFLICT (region, id) DO UPDATE
SET mark = excluded.mark, stock = excluded.stock
