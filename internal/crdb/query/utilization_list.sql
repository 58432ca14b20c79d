-- purpose: the recorded utilization of pools since the beginning of a month: all points of recent days, and the points that are kept of each earlier day
-- index:   utilization_pkey
-- rows:    one for each pool and each stored day and month
-- locks:   none
-- region:  every, because each pool's records are in the pool's home region; each row is found by the pool's part of the key
SELECT p.id, t.begins, t.points
FROM unnest($1::TEXT[], $2::UUID[]) AS p (region, id)
CROSS JOIN LATERAL (
    SELECT u.begins, u.points
    FROM utilization AS u
    WHERE u.region = p.region::crdb_internal_region AND u.pool_id = p.id AND u.begins >= $3
    LIMIT 100
) AS t
