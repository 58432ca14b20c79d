-- purpose: the projects among the given ones that have holds that ended before a time
-- index:   history_until_idx
-- rows:    one probe for each project
-- locks:   none
-- The second half of the UNION never returns a row. Because of it CockroachDB runs the first half once for each row, and reads no more than its limit.
-- roles:   retention
SELECT k.project_id
FROM unnest($2::UUID[]) AS k (project_id)
CROSS JOIN LATERAL (
    (
        SELECT h.until
        FROM history AS h
        WHERE h.region = $1 AND h.project_id = k.project_id AND h.until < $3
        ORDER BY h.until
        LIMIT 1
    )
    UNION ALL
    (
        SELECT h.until
        FROM history AS h
        WHERE k.project_id < '00000000-0000-0000-0000-000000000000' AND h.region = $1 AND h.project_id = k.project_id AND h.until < $3
        ORDER BY h.until
        LIMIT 1
    )
) AS o
