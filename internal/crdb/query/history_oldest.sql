-- purpose: which of some projects have holds that ended before a time
-- index:   history_until_idx
-- rows:    one probe for each project
-- locks:   none
-- roles:   retention
SELECT k.project_id
FROM unnest($2::UUID[]) AS k (project_id)
CROSS JOIN LATERAL (
    SELECT h.until
    FROM history AS h
    WHERE h.region = $1 AND h.project_id = k.project_id AND h.until < $3
    ORDER BY h.until
    LIMIT 1
) AS o
