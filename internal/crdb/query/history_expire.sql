-- purpose: delete some of a project's holds that ended before a time, the oldest first, and with the last of them those that ended with it
-- index:   history_until_idx
-- rows:    the limit and one, and those of the same moment: as many as one request releases
-- locks:   the rows
-- roles:   retention
DELETE FROM history
WHERE region = $1 AND project_id = $2 AND until < $3 AND until <= coalesce((
    SELECT h.until
    FROM history AS h
    WHERE h.region = $1 AND h.project_id = $2 AND h.until < $3
    ORDER BY h.until
    LIMIT 1 OFFSET $4
), $3::TIMESTAMPTZ)
