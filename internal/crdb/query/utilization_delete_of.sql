-- purpose: delete the recorded utilization of a pool, with the pool
-- index:   utilization_pkey
-- rows:    one for each stored day and month
-- locks:   the rows
DELETE FROM utilization
WHERE region = $1 AND pool_id = $2
