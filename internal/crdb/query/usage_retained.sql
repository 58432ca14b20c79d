-- purpose: count the blocks that a project retains without a claim within a quota's scope, by region and prefix length, with the number of IPv4 blocks
-- index:   regions_ordinal_key, holds_retained_idx
-- rows:    the project's retained blocks
-- locks:   none
SELECT u.plen, u.blocks, u.four
FROM regions AS g
CROSS JOIN LATERAL (
    SELECT t.plen, count(*) AS blocks, sum(CASE length(t.base) WHEN 4 THEN 1::INT8 ELSE 0::INT8 END)::INT8 AS four
    FROM holds AS t
    WHERE t.region = g.name AND t.holder_project_id = $1 AND t.phase = 'Retained'
        AND ($2::TEXT = '' OR t.doc::JSONB ->> 'p' = $2::TEXT || '/' || $3::TEXT) AND ($4::INT8 = 0 OR length(t.base) = $4::INT8)
        AND ($5::TEXT = '' OR t.doc::JSONB ->> 'c' = $5::TEXT || '/' || $6::TEXT)
    GROUP BY t.plen
) AS u
WHERE g.ordinal >= 0
