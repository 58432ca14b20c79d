-- purpose: the holds of one block follow each other, and the present hold began after the last of them had ended. The times are the starts of the requests, so two of them may be in the wrong order by up to ten minutes, the longest duration of a request
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH ended AS (
    SELECT project_id, id, pool_name, base, plen, since, until,
        max(until) OVER (PARTITION BY project_id, pool_name, base, plen ORDER BY since, until, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM history
)
SELECT h.project_id::TEXT, 'hold ' || h.id::TEXT || ' of ' || encode(h.base, 'hex') || '/' || h.plen::TEXT || ' in pool ' || h.pool_name || ' began before the one before it had ended'
FROM ended AS h
WHERE h.since < h.before - INTERVAL '10 minutes'
UNION ALL
SELECT h.project_id::TEXT, 'hold ' || h.id::TEXT || ' of ' || encode(h.base, 'hex') || '/' || h.plen::TEXT || ' in pool ' || h.pool_name || ' ended before it began'
FROM history AS h
WHERE h.until < h.since
UNION ALL
SELECT a.container_id::TEXT, 'allocation ' || a.id::TEXT || ' is held since before hold ' || h.id::TEXT || ' of the same block had ended'
FROM holds AS a
JOIN history AS h ON h.project_id = a.project_id AND h.base = a.base AND h.plen = a.plen AND h.pool_name = split_part(a.doc::JSONB ->> 'p', '/', 2)
WHERE a.purpose IN ('Claim', 'ChildPool') AND a.since < h.until - INTERVAL '10 minutes'
