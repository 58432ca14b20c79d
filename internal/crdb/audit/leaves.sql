-- purpose: in every space exactly one leaf covers every address: a free block, a claim or a reservation, at any depth of pools
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH homes AS (
    SELECT id AS container_id, space_id, af::INT8 AS af FROM pools
    UNION ALL
    SELECT container_v4 AS container_id, id AS space_id, 4::INT8 AS af FROM spaces
    UNION ALL
    SELECT container_v6 AS container_id, id AS space_id, 6::INT8 AS af FROM spaces
),
leaf_blocks AS (
    SELECT container_id, base, host_bits::INT4 AS host_bits FROM free_blocks
    UNION ALL
    SELECT container_id, base, length(base)::INT4 * 8 - plen::INT4 AS host_bits FROM holds WHERE purpose IN ('Claim', 'Reservation')
),
spans AS (
    SELECT h.space_id, h.af, encode(l.base, 'hex') AS base,
        CASE length(l.base) WHEN 4 THEN
            ((get_byte(l.base, 0)::INT8 << 24) + (get_byte(l.base, 1)::INT8 << 16) + (get_byte(l.base, 2)::INT8 << 8) + get_byte(l.base, 3)::INT8)::DECIMAL
        ELSE
            (((((get_byte(l.base, 0)::INT8 << 24) + (get_byte(l.base, 1)::INT8 << 16) + (get_byte(l.base, 2)::INT8 << 8) + get_byte(l.base, 3)::INT8)::DECIMAL * 4294967296::DECIMAL
            + ((get_byte(l.base, 4)::INT8 << 24) + (get_byte(l.base, 5)::INT8 << 16) + (get_byte(l.base, 6)::INT8 << 8) + get_byte(l.base, 7)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(l.base, 8)::INT8 << 24) + (get_byte(l.base, 9)::INT8 << 16) + (get_byte(l.base, 10)::INT8 << 8) + get_byte(l.base, 11)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(l.base, 12)::INT8 << 24) + (get_byte(l.base, 13)::INT8 << 16) + (get_byte(l.base, 14)::INT8 << 8) + get_byte(l.base, 15)::INT8)::DECIMAL)
        END AS lo,
        CASE WHEN l.host_bits <= 62 THEN (1::INT8 << l.host_bits)::DECIMAL
        WHEN l.host_bits <= 124 THEN (1::INT8 << (l.host_bits - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << (l.host_bits - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END AS size
    FROM leaf_blocks AS l
    JOIN homes AS h ON h.container_id = l.container_id
),
walk AS (
    SELECT space_id, af, base, lo, lo + size AS hi,
        lag(lo + size) OVER (PARTITION BY space_id, af ORDER BY lo, size) AS before,
        lead(lo) OVER (PARTITION BY space_id, af ORDER BY lo, size) AS next
    FROM spans
)
SELECT w.space_id::TEXT, 'IPv' || w.af::TEXT || ': the leaf at ' || w.base || CASE WHEN w.lo > w.before THEN ' comes after a gap' ELSE ' overlaps the one before' END
FROM walk AS w
WHERE w.before IS NOT NULL AND w.lo <> w.before
UNION ALL
SELECT w.space_id::TEXT, 'IPv' || w.af::TEXT || ': the leaves do not begin at the first address'
FROM walk AS w
WHERE w.before IS NULL AND w.lo <> 0::DECIMAL
UNION ALL
SELECT w.space_id::TEXT, 'IPv' || w.af::TEXT || ': the leaves do not end at the last address'
FROM walk AS w
WHERE w.next IS NULL AND w.hi <> CASE w.af WHEN 4 THEN 4294967296::DECIMAL ELSE 340282366920938463463374607431768211456::DECIMAL END
UNION ALL
SELECT h.space_id::TEXT, 'IPv' || h.af::TEXT || ': there are no leaves at all'
FROM homes AS h
WHERE NOT EXISTS (SELECT 1 FROM spans AS l WHERE l.space_id = h.space_id AND l.af = h.af)
GROUP BY h.space_id, h.af
