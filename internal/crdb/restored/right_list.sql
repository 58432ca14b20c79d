-- purpose: every project, and the rights of callers in it: keys that have not expired, members, grants and quotas
-- index:   none: all rows, once
-- rows:    all
-- locks:   none
-- region:  every, because the whole database was restored
SELECT 'project' AS kind, p.id, p.id AS project_id, p.name AS project, p.name, '' AS detail, p.created_at
FROM projects AS p
UNION ALL
SELECT 'API key', k.id, k.project_id, p.name, k.name, k.role, k.created_at
FROM api_keys AS k
JOIN projects AS p ON p.id = k.project_id
WHERE k.expires_at IS NULL OR k.expires_at > clock_timestamp()
UNION ALL
SELECT 'member', m.id, m.project_id, p.name, m.subject, m.role, m.created_at
FROM members AS m
JOIN projects AS p ON p.id = m.project_id
UNION ALL
SELECT 'grant', g.id, p.id, p.name, g.consumer, g.kind || ' ' || coalesce(q.name, s.name), g.created_at
FROM grants AS g
LEFT JOIN pools AS q ON q.id = g.subject_id
LEFT JOIN spaces AS s ON s.id = g.subject_id
JOIN projects AS p ON p.id = coalesce(q.project_id, s.project_id)
UNION ALL
SELECT
    'quota', t.id, t.project_id, p.name, t.name,
    'addresses ' || coalesce(t.limit_addresses::TEXT, 'unlimited') || ', claims ' || coalesce(t.limit_claims::TEXT, 'unlimited')
    || ', pools ' || coalesce(t.limit_pools::TEXT, 'unlimited'),
    t.created_at
FROM quotas AS t
JOIN projects AS p ON p.id = t.project_id
ORDER BY 7 DESC, 4, 1, 5
