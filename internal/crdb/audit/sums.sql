-- purpose: the free, held and lent addresses of every container add up to its size
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
sums AS (
    SELECT container_id, sum(CASE WHEN host_bits <= 62 THEN (1::INT8 << host_bits)::DECIMAL
        WHEN host_bits <= 124 THEN (1::INT8 << (host_bits - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << (host_bits - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END) AS covered
    FROM blocks
    GROUP BY container_id
)
SELECT c.container_id::TEXT, 'holds ' || coalesce(s.covered, 0::DECIMAL)::TEXT || ' addresses instead of ' || (CASE WHEN c.host_bits <= 62 THEN (1::INT8 << c.host_bits)::DECIMAL
        WHEN c.host_bits <= 124 THEN (1::INT8 << (c.host_bits - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << (c.host_bits - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END)::TEXT
FROM containers AS c
LEFT JOIN sums AS s ON s.container_id = c.container_id
WHERE coalesce(s.covered, 0::DECIMAL) <> CASE WHEN c.host_bits <= 62 THEN (1::INT8 << c.host_bits)::DECIMAL
        WHEN c.host_bits <= 124 THEN (1::INT8 << (c.host_bits - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << (c.host_bits - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END
