-- purpose: every utilization record covers one day or one month, is stored in the pool's home region, and is not empty
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT u.pool_id::TEXT, 'what was recorded since ' || u.begins::TEXT || ' was last recorded at ' || u.latest::TEXT
FROM utilization AS u
WHERE u.latest < u.begins OR u.latest >= u.begins + CASE WHEN u.monthly THEN INTERVAL '31 days' ELSE INTERVAL '1 day' END
UNION ALL
SELECT u.pool_id::TEXT, 'nothing was recorded since ' || u.begins::TEXT
FROM utilization AS u
WHERE length(u.points) < 3
UNION ALL
SELECT u.pool_id::TEXT, 'it was recorded in ' || u.region::TEXT || ', where the pool is not at home'
FROM utilization AS u
JOIN pools AS p ON p.id = u.pool_id
WHERE p.region::TEXT <> u.region::TEXT
