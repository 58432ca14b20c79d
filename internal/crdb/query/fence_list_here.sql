-- purpose: the fences of some projects in one region
-- index:   fences_pkey
-- rows:    one for each project
-- locks:   none
SELECT $1::TEXT, f.id, f.mark, f.stock
FROM fences AS f
WHERE f.region = $1::crdb_internal_region AND f.id = ANY ($2::UUID[])
