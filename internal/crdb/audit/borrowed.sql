-- purpose: the free and held blocks of a pool in a region other than its home tile the blocks that the home lent to the region, without gaps or overlaps
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH blocks AS (
    SELECT f.container_id, f.region, f.base, f.host_bits::INT4 AS host_bits, false AS loan
    FROM free_blocks AS f
    JOIN pools AS p ON p.id = f.container_id
    WHERE f.region <> p.region
    UNION ALL
    SELECT a.container_id, a.region, a.base, length(a.base)::INT4 * 8 - a.plen::INT4 AS host_bits, false AS loan
    FROM holds AS a
    JOIN pools AS p ON p.id = a.container_id
    WHERE a.region <> p.region
    UNION ALL
    SELECT b.pool_id AS container_id, b.region, b.base, length(b.base)::INT4 * 8 - b.plen::INT4 AS host_bits, true AS loan FROM region_blocks AS b
),
spans AS (
    SELECT container_id, region, loan, encode(base, 'hex') AS base, length(base) AS width,
        CASE length(base) WHEN 4 THEN
            ((get_byte(base, 0)::INT8 << 24) + (get_byte(base, 1)::INT8 << 16) + (get_byte(base, 2)::INT8 << 8) + get_byte(base, 3)::INT8)::DECIMAL
        ELSE
            (((((get_byte(base, 0)::INT8 << 24) + (get_byte(base, 1)::INT8 << 16) + (get_byte(base, 2)::INT8 << 8) + get_byte(base, 3)::INT8)::DECIMAL * 4294967296::DECIMAL
            + ((get_byte(base, 4)::INT8 << 24) + (get_byte(base, 5)::INT8 << 16) + (get_byte(base, 6)::INT8 << 8) + get_byte(base, 7)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(base, 8)::INT8 << 24) + (get_byte(base, 9)::INT8 << 16) + (get_byte(base, 10)::INT8 << 8) + get_byte(base, 11)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(base, 12)::INT8 << 24) + (get_byte(base, 13)::INT8 << 16) + (get_byte(base, 14)::INT8 << 8) + get_byte(base, 15)::INT8)::DECIMAL)
        END AS lo,
        CASE WHEN host_bits <= 62 THEN (1::INT8 << host_bits)::DECIMAL
        WHEN host_bits <= 124 THEN (1::INT8 << (host_bits - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << (host_bits - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END AS size
    FROM blocks
),
walk AS (
    SELECT container_id, region, loan, base, width, lo, lo + size AS hi,
        lag(lo + size) OVER (PARTITION BY container_id, region, loan, width ORDER BY lo, size) AS before,
        lead(lo) OVER (PARTITION BY container_id, region, loan, width ORDER BY lo, size) AS next
    FROM spans
),
begins AS (
    SELECT container_id, region, loan, width, lo AS edge, base FROM walk WHERE before IS NULL OR before < lo
),
ends AS (
    SELECT container_id, region, loan, width, hi AS edge, base FROM walk WHERE next IS NULL OR next > hi
)
SELECT w.container_id::TEXT, 'in region ' || w.region::TEXT || ' the block at ' || w.base || ' overlaps the one before'
FROM walk AS w
WHERE NOT w.loan AND w.before > w.lo
UNION ALL
SELECT b.container_id::TEXT, 'in region ' || b.region::TEXT || CASE WHEN b.loan THEN ' nothing begins where the loan does, at ' ELSE ' no loan begins where blocks do, at ' END || b.base
FROM begins AS b
WHERE NOT EXISTS (SELECT 1 FROM begins AS o WHERE o.container_id = b.container_id AND o.region = b.region AND o.loan <> b.loan AND o.width = b.width AND o.edge = b.edge)
UNION ALL
SELECT e.container_id::TEXT, 'in region ' || e.region::TEXT || CASE WHEN e.loan THEN ' nothing ends where the loan does, after ' ELSE ' no loan ends where blocks do, after ' END || e.base
FROM ends AS e
WHERE NOT EXISTS (SELECT 1 FROM ends AS o WHERE o.container_id = e.container_id AND o.region = e.region AND o.loan <> e.loan AND o.width = e.width AND o.edge = e.edge)
