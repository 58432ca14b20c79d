-- purpose: another mark for a container in each region that has it, because what its claims are decided by has changed
-- index:   fences_pkey
-- rows:    one for each region
-- locks:   the rows
-- region:  every, because a pool may be served in each
UPDATE fences AS f
SET mark = $3
FROM unnest($1::TEXT[]) AS k (region)
WHERE f.region = k.region::crdb_internal_region AND f.id = $2
