-- purpose: the start of the delivery that has been tried for the longest time
-- index:   deliveries_waiting_idx
-- rows:    1
-- locks:   none
SELECT d.began_at
FROM deliveries AS d
WHERE d.region = $1 AND d.began_at <= $2 AND d.dead_at IS NULL AND NOT d.retry
ORDER BY d.began_at
LIMIT 1
