-- purpose: the projects of all members, keys and quotas exist; events and holds of a deleted project exist only while the project is listed for removal
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT m.project_id::TEXT, 'member ' || m.subject || ' of a project that is not there'
FROM members AS m
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = m.project_id)
UNION ALL
SELECT k.project_id::TEXT, 'key ' || k.name || ' of a project that is not there'
FROM api_keys AS k
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = k.project_id)
UNION ALL
SELECT q.project_id::TEXT, 'quota ' || q.name || ' of a project that is not there'
FROM quotas AS q
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = q.project_id)
UNION ALL
SELECT e.project_id::TEXT, 'the trail of a project that is not there has ' || sum(e.count)::TEXT || ' events'
FROM audit_events AS e
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = e.project_id) AND NOT EXISTS (SELECT 1 FROM removals AS r WHERE r.project_id = e.project_id)
GROUP BY e.project_id
UNION ALL
SELECT h.project_id::TEXT, 'the history of a project that is not there has ' || count(*)::TEXT || ' holds'
FROM history AS h
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = h.project_id) AND NOT EXISTS (SELECT 1 FROM removals AS r WHERE r.project_id = h.project_id)
GROUP BY h.project_id
UNION ALL
SELECT r.project_id::TEXT, 'project ' || p.name || ' is there, and noted as gone'
FROM removals AS r
JOIN projects AS p ON p.id = r.project_id
