-- purpose: the container and the project of every hold exist and agree; every project has its default space
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT a.container_id::TEXT, 'allocation ' || a.id::TEXT || ' names another owner than its container has'
FROM holds AS a
WHERE NOT EXISTS (SELECT 1 FROM pools AS p WHERE p.id = a.container_id AND p.project_id = a.project_id AND p.name = split_part(a.doc::JSONB ->> 'p', '/', 2))
    AND NOT EXISTS (SELECT 1 FROM spaces AS s WHERE a.container_id IN (s.container_v4, s.container_v6) AND s.project_id = a.project_id)
UNION ALL
SELECT c.container_id::TEXT, 'claim ' || c.name || ' belongs to project ' || c.holder_project_id::TEXT || ', which is not there'
FROM holds AS c
WHERE c.name IS NOT NULL AND NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = c.holder_project_id)
UNION ALL
SELECT p.id::TEXT, 'project ' || p.name || ' has no space named default'
FROM projects AS p
LEFT JOIN spaces AS s ON s.project_id = p.id AND s.name = 'default'
WHERE s.id IS NULL
