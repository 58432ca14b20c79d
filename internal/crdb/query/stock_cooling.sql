-- purpose: blocks that are cooling down in some containers, counted by length
-- index:   holds_cooling_idx
-- rows:    what is cooling down in the containers
-- locks:   none
SELECT s.container_id, s.plen, s.n
FROM unnest($2::UUID[]) AS k (container_id)
CROSS JOIN LATERAL (
    SELECT a.container_id, a.plen, count(*) AS n
    FROM holds AS a
    WHERE a.region = $1 AND a.phase = 'CoolingDown' AND a.container_id = k.container_id
    GROUP BY a.container_id, a.plen
) AS s
