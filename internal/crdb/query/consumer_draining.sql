-- purpose: consumers of all projects that have ended and may still be attached, earliest end first
-- index:   consumers_draining_idx
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns consumer AS c
FROM consumers AS c
WHERE c.region = $1 AND c.draining AND c.ended_at > $2
ORDER BY c.ended_at
LIMIT $3
