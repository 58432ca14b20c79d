-- purpose: how much of a pool was used, in full for the last days, and before that for each day
-- index:   utilization_pkey
-- rows:    one for each day and month that are kept
-- locks:   none
SELECT u.pool_id, u.begins, u.points
FROM utilization AS u
WHERE u.region = $1 AND u.pool_id = $2
