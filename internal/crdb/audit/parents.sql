-- purpose: every child pool lies in an existing pool of the same space and family, and every root pool in its space; pools of different spaces do not overlap if they list a class that keeps claims unique
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH blocks AS (
    SELECT id, name, container_id, space_id, parent_name, af,
        CASE length(base) WHEN 4 THEN
            ((get_byte(base, 0)::INT8 << 24) + (get_byte(base, 1)::INT8 << 16) + (get_byte(base, 2)::INT8 << 8) + get_byte(base, 3)::INT8)::DECIMAL
        ELSE
            (((((get_byte(base, 0)::INT8 << 24) + (get_byte(base, 1)::INT8 << 16) + (get_byte(base, 2)::INT8 << 8) + get_byte(base, 3)::INT8)::DECIMAL * 4294967296::DECIMAL
            + ((get_byte(base, 4)::INT8 << 24) + (get_byte(base, 5)::INT8 << 16) + (get_byte(base, 6)::INT8 << 8) + get_byte(base, 7)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(base, 8)::INT8 << 24) + (get_byte(base, 9)::INT8 << 16) + (get_byte(base, 10)::INT8 << 8) + get_byte(base, 11)::INT8)::DECIMAL) * 4294967296::DECIMAL
            + ((get_byte(base, 12)::INT8 << 24) + (get_byte(base, 13)::INT8 << 16) + (get_byte(base, 14)::INT8 << 8) + get_byte(base, 15)::INT8)::DECIMAL)
        END AS lo,
        CASE WHEN (length(base)::INT4 * 8 - plen::INT4) <= 62 THEN (1::INT8 << (length(base)::INT4 * 8 - plen::INT4))::DECIMAL
        WHEN (length(base)::INT4 * 8 - plen::INT4) <= 124 THEN (1::INT8 << ((length(base)::INT4 * 8 - plen::INT4) - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << ((length(base)::INT4 * 8 - plen::INT4) - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END AS size
    FROM pools
)
SELECT c.container_id::TEXT, 'child pool ' || c.name || ' (' || c.id::TEXT || ') is not inside its parent'
FROM blocks AS c
WHERE c.parent_name <> '' AND NOT EXISTS (
    SELECT 1 FROM blocks AS p
    WHERE p.id = c.container_id AND p.name = c.parent_name AND p.space_id = c.space_id AND p.af = c.af AND p.lo <= c.lo AND c.lo + c.size <= p.lo + p.size
)
UNION ALL
SELECT r.container_id::TEXT, 'root pool ' || r.name || ' (' || r.id::TEXT || ') is not in its space'
FROM blocks AS r
WHERE r.parent_name = '' AND NOT EXISTS (
    SELECT 1 FROM spaces AS s
    WHERE s.id = r.space_id AND CASE r.af WHEN 4 THEN s.container_v4 ELSE s.container_v6 END = r.container_id
)
UNION ALL
SELECT a.container_id::TEXT, 'pool ' || a.name || ' (' || a.id::TEXT || ') and pool ' || b.name || ' of another space overlap behind class ' || k.name || ', no two claims of which may overlap'
FROM classes AS k
JOIN pool_classes AS m ON m.class_id = k.id
JOIN blocks AS a ON a.id = m.pool_id
JOIN pool_classes AS n ON n.class_id = k.id
JOIN blocks AS b ON b.id = n.pool_id AND b.space_id <> a.space_id AND b.af = a.af AND b.lo <= a.lo AND a.lo < b.lo + b.size
WHERE k.spec ->> 'uniqueWithin' = 'Class'
