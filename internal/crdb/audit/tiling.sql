-- purpose: the free, held and lent blocks of every container tile it from the first address to the last, without gaps or overlaps
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH blocks AS (
    SELECT f.container_id, f.base, f.host_bits::INT4 AS host_bits
    FROM free_blocks AS f
    LEFT JOIN pools AS p ON p.id = f.container_id
    WHERE p.id IS NULL OR p.region = f.region
    UNION ALL
    SELECT a.container_id, a.base, length(a.base)::INT4 * 8 - a.plen::INT4 AS host_bits
    FROM holds AS a
    LEFT JOIN pools AS p ON p.id = a.container_id
    WHERE p.id IS NULL OR p.region = a.region
    UNION ALL
    SELECT b.pool_id AS container_id, b.base, length(b.base)::INT4 * 8 - b.plen::INT4 AS host_bits FROM region_blocks AS b
),
containers AS (
    SELECT id AS container_id, base, length(base)::INT4 * 8 - plen::INT4 AS host_bits FROM pools
    UNION ALL
    SELECT container_v4 AS container_id, '\x00000000'::BYTEA AS base, 32::INT4 AS host_bits FROM spaces
    UNION ALL
    SELECT container_v6 AS container_id, '\x00000000000000000000000000000000'::BYTEA AS base, 128::INT4 AS host_bits FROM spaces
),
spans AS (
    SELECT container_id, encode(base, 'hex') AS base,
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
    SELECT container_id, base, lo, lo + size AS hi,
        lag(lo + size) OVER (PARTITION BY container_id ORDER BY lo, size) AS before,
        lead(lo) OVER (PARTITION BY container_id ORDER BY lo, size) AS next
    FROM spans
),
bounds AS (
    SELECT container_id,
        CASE length(base) WHEN 4 THEN
            ((get_byte(base, 0)::INT8 << 24) + (get_byte(base, 1)::INT8 << 16) + (get_byte(base, 2)::INT8 << 8) + get_byte(base, 3)::INT8)::DECIMAL
        ELSE
            (((((get_byte(base, 0)::INT8 << 24) + (get_byte(base, 1)::INT8 << 16) + (get_byte(base, 2)::INT8 << 8) + get_byte(base, 3)::INT8)::DECIMAL * 4294967296::DECIMAL
            + ((get_byte(base, 4)::INT8 << 24) + (get_byte(base, 5)::INT8 << 16) + (get_byte(base, 6)::INT8 << 8) + get_byte(base, 7)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(base, 8)::INT8 << 24) + (get_byte(base, 9)::INT8 << 16) + (get_byte(base, 10)::INT8 << 8) + get_byte(base, 11)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(base, 12)::INT8 << 24) + (get_byte(base, 13)::INT8 << 16) + (get_byte(base, 14)::INT8 << 8) + get_byte(base, 15)::INT8)::DECIMAL)
        END AS lo,
        CASE length(base) WHEN 4 THEN
            ((get_byte(base, 0)::INT8 << 24) + (get_byte(base, 1)::INT8 << 16) + (get_byte(base, 2)::INT8 << 8) + get_byte(base, 3)::INT8)::DECIMAL
        ELSE
            (((((get_byte(base, 0)::INT8 << 24) + (get_byte(base, 1)::INT8 << 16) + (get_byte(base, 2)::INT8 << 8) + get_byte(base, 3)::INT8)::DECIMAL * 4294967296::DECIMAL
            + ((get_byte(base, 4)::INT8 << 24) + (get_byte(base, 5)::INT8 << 16) + (get_byte(base, 6)::INT8 << 8) + get_byte(base, 7)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(base, 8)::INT8 << 24) + (get_byte(base, 9)::INT8 << 16) + (get_byte(base, 10)::INT8 << 8) + get_byte(base, 11)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(base, 12)::INT8 << 24) + (get_byte(base, 13)::INT8 << 16) + (get_byte(base, 14)::INT8 << 8) + get_byte(base, 15)::INT8)::DECIMAL)
        END + CASE WHEN host_bits <= 62 THEN (1::INT8 << host_bits)::DECIMAL
        WHEN host_bits <= 124 THEN (1::INT8 << (host_bits - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << (host_bits - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END AS hi
    FROM containers
)
SELECT w.container_id::TEXT, 'the block at ' || w.base || CASE WHEN w.lo > w.before THEN ' comes after a gap' ELSE ' overlaps the one before' END
FROM walk AS w
WHERE w.before IS NOT NULL AND w.lo <> w.before
UNION ALL
SELECT b.container_id::TEXT, 'nothing covers the beginning'
FROM bounds AS b
WHERE NOT EXISTS (SELECT 1 FROM walk AS w WHERE w.container_id = b.container_id AND w.before IS NULL AND w.lo = b.lo)
UNION ALL
SELECT b.container_id::TEXT, 'the last block does not end where the container ends'
FROM bounds AS b
WHERE NOT EXISTS (SELECT 1 FROM walk AS w WHERE w.container_id = b.container_id AND w.next IS NULL AND w.hi = b.hi)
UNION ALL
SELECT w.container_id::TEXT, 'blocks of a container that does not exist'
FROM walk AS w
WHERE w.before IS NULL AND NOT EXISTS (SELECT 1 FROM bounds AS b WHERE b.container_id = w.container_id)
