-- purpose: a page of the holds of given blocks in a project's pools that ended before a time, newest first
-- index:   history_pkey
-- rows:    the page for each block
-- locks:   none
SELECT
    -- @columns hold_data AS h
FROM unnest($3::BYTEA[], $4::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT
        -- @columns hold_data AS t
    FROM history AS t
    WHERE t.region = $1 AND t.project_id = $2 AND t.base = k.base AND t.plen = k.plen AND (t.until, t.id) < ($5, $6)
    ORDER BY t.until DESC, t.id DESC
    LIMIT $7
) AS h
ORDER BY h.until DESC, h.id DESC
LIMIT $7
