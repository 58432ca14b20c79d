-- purpose: a page of the pools whose home is a region, sorted by id, each with today's record of its utilization
-- index:   pools_pkey, utilization_pkey
-- rows:    the limit, and pools of other regions between them
-- locks:   none
SELECT p.id, p.region, p.regions, p.base, p.plen, t.latest, t.points
FROM pools AS p
LEFT JOIN LATERAL (
    SELECT u.latest, u.points
    FROM utilization AS u
    WHERE u.region = $1 AND u.pool_id = p.id AND u.monthly = FALSE AND u.begins = $2
    LIMIT 1
) AS t ON true
WHERE p.id > $3 AND p.region = $1
ORDER BY p.id
LIMIT $4
