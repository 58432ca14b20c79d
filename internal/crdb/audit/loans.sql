-- purpose: every loan of a pool lies in the pool, overlaps no other loan, and goes to a region that the pool serves and that is not its home
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH lent AS (
    SELECT b.pool_id, b.region, b.base AS at, length(b.base) AS width,
        CASE length(b.base) WHEN 4 THEN
            ((get_byte(b.base, 0)::INT8 << 24) + (get_byte(b.base, 1)::INT8 << 16) + (get_byte(b.base, 2)::INT8 << 8) + get_byte(b.base, 3)::INT8)::DECIMAL
        ELSE
            (((((get_byte(b.base, 0)::INT8 << 24) + (get_byte(b.base, 1)::INT8 << 16) + (get_byte(b.base, 2)::INT8 << 8) + get_byte(b.base, 3)::INT8)::DECIMAL * 4294967296::DECIMAL
            + ((get_byte(b.base, 4)::INT8 << 24) + (get_byte(b.base, 5)::INT8 << 16) + (get_byte(b.base, 6)::INT8 << 8) + get_byte(b.base, 7)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(b.base, 8)::INT8 << 24) + (get_byte(b.base, 9)::INT8 << 16) + (get_byte(b.base, 10)::INT8 << 8) + get_byte(b.base, 11)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(b.base, 12)::INT8 << 24) + (get_byte(b.base, 13)::INT8 << 16) + (get_byte(b.base, 14)::INT8 << 8) + get_byte(b.base, 15)::INT8)::DECIMAL)
        END AS lo,
        CASE WHEN (length(b.base)::INT4 * 8 - b.plen::INT4) <= 62 THEN (1::INT8 << (length(b.base)::INT4 * 8 - b.plen::INT4))::DECIMAL
        WHEN (length(b.base)::INT4 * 8 - b.plen::INT4) <= 124 THEN (1::INT8 << ((length(b.base)::INT4 * 8 - b.plen::INT4) - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << ((length(b.base)::INT4 * 8 - b.plen::INT4) - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END AS size
    FROM region_blocks AS b
),
walk AS (
    SELECT pool_id, region, at, lo, lag(lo + size) OVER (PARTITION BY pool_id, width ORDER BY lo, size) AS before
    FROM lent
),
whole AS (
    SELECT p.id, p.region, p.regions, length(p.base) AS width,
        CASE length(p.base) WHEN 4 THEN
            ((get_byte(p.base, 0)::INT8 << 24) + (get_byte(p.base, 1)::INT8 << 16) + (get_byte(p.base, 2)::INT8 << 8) + get_byte(p.base, 3)::INT8)::DECIMAL
        ELSE
            (((((get_byte(p.base, 0)::INT8 << 24) + (get_byte(p.base, 1)::INT8 << 16) + (get_byte(p.base, 2)::INT8 << 8) + get_byte(p.base, 3)::INT8)::DECIMAL * 4294967296::DECIMAL
            + ((get_byte(p.base, 4)::INT8 << 24) + (get_byte(p.base, 5)::INT8 << 16) + (get_byte(p.base, 6)::INT8 << 8) + get_byte(p.base, 7)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(p.base, 8)::INT8 << 24) + (get_byte(p.base, 9)::INT8 << 16) + (get_byte(p.base, 10)::INT8 << 8) + get_byte(p.base, 11)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(p.base, 12)::INT8 << 24) + (get_byte(p.base, 13)::INT8 << 16) + (get_byte(p.base, 14)::INT8 << 8) + get_byte(p.base, 15)::INT8)::DECIMAL)
        END AS lo,
        CASE WHEN (length(p.base)::INT4 * 8 - p.plen::INT4) <= 62 THEN (1::INT8 << (length(p.base)::INT4 * 8 - p.plen::INT4))::DECIMAL
        WHEN (length(p.base)::INT4 * 8 - p.plen::INT4) <= 124 THEN (1::INT8 << ((length(p.base)::INT4 * 8 - p.plen::INT4) - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << ((length(p.base)::INT4 * 8 - p.plen::INT4) - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END AS size
    FROM pools AS p
)
SELECT w.pool_id::TEXT, 'the block at ' || encode(w.at, 'hex') || ', lent to ' || w.region::TEXT || ', overlaps another that is lent'
FROM walk AS w
WHERE w.before > w.lo
UNION ALL
SELECT l.pool_id::TEXT, 'the block at ' || encode(l.at, 'hex') || ', lent to ' || l.region::TEXT || ', is not in its pool'
FROM lent AS l
WHERE NOT EXISTS (SELECT 1 FROM whole AS p WHERE p.id = l.pool_id AND p.width = l.width AND p.lo <= l.lo AND l.lo + l.size <= p.lo + p.size)
UNION ALL
SELECT l.pool_id::TEXT, 'the block at ' || encode(l.at, 'hex') || ' is lent to ' || l.region::TEXT || ', which is the pool''s home or does not serve it'
FROM lent AS l
JOIN whole AS p ON p.id = l.pool_id
WHERE l.region = p.region OR NOT EXISTS (
    SELECT 1 FROM pool_regions AS r WHERE r.pool_id = l.pool_id AND r.region = l.region
)
