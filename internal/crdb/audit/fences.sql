-- purpose: every container in each of its regions, with the counts by prefix length of blocks that are free or cool down
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH containers AS (
    SELECT p.region::TEXT AS region, p.id
    FROM pools AS p
    UNION
    SELECT e.region, p.id
    FROM pools AS p
    CROSS JOIN LATERAL jsonb_array_elements_text(p.regions) AS e (region)
    UNION
    SELECT s.region::TEXT AS region, s.container_v4 AS id
    FROM spaces AS s
    UNION
    SELECT s.region::TEXT AS region, s.container_v6 AS id
    FROM spaces AS s
),
counted AS (
    SELECT f.region::TEXT AS region, f.container_id, length(f.base)::INT8 * 8 - f.host_bits::INT8 AS plen, count(*) AS free, 0::INT8 AS cooling
    FROM free_blocks AS f
    GROUP BY f.region, f.container_id, length(f.base), f.host_bits
    UNION ALL
    SELECT h.region::TEXT AS region, h.container_id, h.plen::INT8 AS plen, 0::INT8 AS free, count(*) AS cooling
    FROM holds AS h
    WHERE h.phase = 'CoolingDown'
    GROUP BY h.region, h.container_id, h.plen
)
SELECT c.region, c.id, n.plen, coalesce(n.free, 0), coalesce(n.cooling, 0)
FROM containers AS c
LEFT JOIN counted AS n ON n.region = c.region AND n.container_id = c.id
