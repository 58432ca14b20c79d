-- purpose: the holds of given blocks in a project's pools at a time: begun at or before it and ended after it
-- index:   history_pkey
-- rows:    for each block the first 1,000 holds that ended after the time; if one pool had the block, the first of them is the result
-- locks:   none
SELECT
    -- @columns hold_data AS h
FROM unnest($3::BYTEA[], $4::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT
        -- @columns hold_data AS t
    FROM history AS t
    WHERE t.region = $1 AND t.project_id = $2 AND t.base = k.base AND t.plen = k.plen AND t.until > $5
    ORDER BY t.until, t.id
    LIMIT 1000
) AS h
WHERE h.since <= $5
LIMIT $6
