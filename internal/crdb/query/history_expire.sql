-- purpose: delete the oldest of a project's holds that ended before a time, with all holds that ended at the same moment as the last of them
-- index:   history_until_idx
-- rows:    the limit, one more, and the holds that ended at that moment: at most those that one request released
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
