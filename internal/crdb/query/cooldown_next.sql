-- purpose: for each given container and prefix length, the earliest end of a cool-down
-- index:   holds_cooling_idx
-- rows:    one probe for each container and length
-- locks:   none
-- The second half of the UNION never returns a row. Because of it CockroachDB runs the first half once for each row, and reads no more than its limit.
SELECT f.container_id, f.cool_until
FROM unnest($2::UUID[], $3::INT2[]) AS k (container_id, plen)
CROSS JOIN LATERAL (
    (
        SELECT a.container_id, a.cool_until
        FROM holds AS a
        WHERE a.region = $1 AND a.phase = 'CoolingDown' AND a.container_id = k.container_id AND a.plen = k.plen
        ORDER BY a.cool_until
        LIMIT 1
    )
    UNION ALL
    (
        SELECT a.container_id, a.cool_until
        FROM holds AS a
        WHERE k.plen < 0 AND a.region = $1 AND a.phase = 'CoolingDown' AND a.container_id = k.container_id AND a.plen = k.plen
    )
) AS f
