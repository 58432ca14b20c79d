-- purpose: delete what was recorded of a pool, with it
-- index:   utilization_pkey
-- rows:    one for each day and month that are kept
-- locks:   the rows
DELETE FROM utilization
WHERE region = $1 AND pool_id = $2
