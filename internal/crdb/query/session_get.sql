-- purpose: one session by the hash of the browser's secret
-- index:   sessions_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns session AS s
FROM sessions AS s
WHERE s.hash = $1
