-- purpose: every block begins at a multiple of its size
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH blocks AS (
    SELECT container_id, base, host_bits::INT4 AS host_bits FROM free_blocks
    UNION ALL
    SELECT container_id, base, length(base)::INT4 * 8 - plen::INT4 AS host_bits FROM holds
)
SELECT container_id::TEXT, encode(base, 'hex') || ' of 2^' || host_bits::TEXT || ' addresses is not aligned'
FROM blocks
WHERE NOT (substring(base, length(base) - (host_bits >> 3) + 1) = decode(repeat('00', (host_bits >> 3)), 'hex')
        AND (host_bits & 7 = 0 OR (get_byte(base, length(base) - 1 - (host_bits >> 3)) & ((1::INT8 << (host_bits & 7)) - 1)) = 0))
