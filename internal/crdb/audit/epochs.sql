-- purpose: exactly the pools that serve several regions have a record for each of their regions; the epoch of a region's rows equals the epoch of its record
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH served AS (
    SELECT p.id, p.name, e.region
    FROM pools AS p
    CROSS JOIN LATERAL jsonb_array_elements_text(p.regions) AS e (region)
)
SELECT s.id::TEXT, 'pool ' || s.name || ' serves region ' || s.region || ', of which there is no record'
FROM served AS s
WHERE NOT EXISTS (SELECT 1 FROM pool_regions AS r WHERE r.pool_id = s.id AND r.region::TEXT = s.region)
UNION ALL
SELECT r.pool_id::TEXT, 'there is a record of region ' || r.region::TEXT || ', which the pool does not serve'
FROM pool_regions AS r
WHERE NOT EXISTS (SELECT 1 FROM served AS s WHERE s.id = r.pool_id AND s.region = r.region::TEXT)
UNION ALL
SELECT r.pool_id::TEXT, 'what region ' || r.region::TEXT || ' has of the pool is of another time than the record of it'
FROM pool_regions AS r
WHERE NOT EXISTS (SELECT 1 FROM stocks AS s WHERE s.region = r.region AND s.pool_id = r.pool_id AND s.epoch = r.epoch)
UNION ALL
SELECT s.pool_id::TEXT, 'region ' || s.region::TEXT || ' has an epoch of the pool, of which there is no record'
FROM stocks AS s
WHERE NOT EXISTS (SELECT 1 FROM pool_regions AS r WHERE r.pool_id = s.pool_id AND r.region = s.region)
