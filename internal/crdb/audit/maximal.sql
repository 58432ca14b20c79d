-- purpose: no two free blocks of a region are buddies that could merge into one, so the largest free block is exact, and so is the refusal of an exhausted pool
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH spans AS (
    SELECT region, container_id, host_bits::INT4 AS host_bits, base,
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
    FROM free_blocks
),
pairs AS (
    SELECT container_id, host_bits, base, lo, size,
        lead(lo) OVER (PARTITION BY region, container_id, host_bits ORDER BY lo) AS next
    FROM spans
)
SELECT container_id::TEXT, 'the free blocks of 2^' || host_bits::TEXT || ' addresses at ' || encode(base, 'hex') || ' and after it are buddies'
FROM pairs
WHERE next = lo + size AND substring(base, length(base) - ((host_bits + 1) >> 3) + 1) = decode(repeat('00', ((host_bits + 1) >> 3)), 'hex')
        AND ((host_bits + 1) & 7 = 0 OR (get_byte(base, length(base) - 1 - ((host_bits + 1) >> 3)) & ((1::INT8 << ((host_bits + 1) & 7)) - 1)) = 0)
