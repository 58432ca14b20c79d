-- purpose: the class lists of pools and the index of pools by class agree, and their classes exist; a hold that a class served has the id and name of the class; a pool for a scope was carved for a scoped class, from a pool of the same project, and serves that scope alone
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH listed AS (
    SELECT p.id AS pool_id, p.project_id, p.name AS pool_name, p.af, e.class ->> 'id' AS class_id, e.class -> 'ref' ->> 'project' AS class_project, e.class -> 'ref' ->> 'name' AS class_name
    FROM pools AS p
    CROSS JOIN LATERAL jsonb_array_elements(p.classes) AS e (class)
),
known AS (
    SELECT c.id, c.project_id, o.name AS project, c.name, c.af, c.spec
    FROM classes AS c
    JOIN projects AS o ON o.id = c.project_id
),
scoped AS (
    SELECT id, name, project_id, container_id, af, classes, scope, scope_class_id, scope_project_id, scope_key FROM pools WHERE scope IS NOT NULL OR scope_class_id IS NOT NULL OR scope_project_id IS NOT NULL OR scope_key IS NOT NULL
)
SELECT c.id::TEXT, 'class ' || c.name || ' is looked for by other things than it says'
FROM classes AS c
WHERE c.spec ->> 'ipFamily' <> 'IPv' || c.af::TEXT OR c.spec ->> 'visibility' <> c.visibility OR c.spec ->> 'isDefault' <> CASE WHEN c.is_default THEN 'true' ELSE 'false' END
    OR c.spec ->> 'ipFamily' IS NULL OR c.spec ->> 'visibility' IS NULL OR c.spec ->> 'isDefault' IS NULL
UNION ALL
SELECT m.pool_id::TEXT, 'pool ' || m.pool_name || ' is found by class ' || m.class_id::TEXT || ', which it does not list'
FROM pool_classes AS m
WHERE NOT EXISTS (SELECT 1 FROM listed AS l WHERE l.pool_id = m.pool_id AND l.class_id = m.class_id::TEXT AND l.project_id = m.project_id AND l.pool_name = m.pool_name)
UNION ALL
SELECT l.pool_id::TEXT, 'pool ' || l.pool_name || ' lists class ' || l.class_project || '/' || l.class_name || ', which does not find it'
FROM listed AS l
WHERE NOT EXISTS (SELECT 1 FROM pool_classes AS m WHERE m.pool_id = l.pool_id AND m.class_id::TEXT = l.class_id)
UNION ALL
SELECT l.pool_id::TEXT, 'pool ' || l.pool_name || ' lists class ' || l.class_project || '/' || l.class_name || ', which is not there, not its own or of the other family'
FROM listed AS l
WHERE NOT EXISTS (
    SELECT 1 FROM known AS c
    WHERE c.id::TEXT = l.class_id AND c.project = l.class_project AND c.name = l.class_name AND c.af = l.af AND (c.project_id = l.project_id OR c.project = 'platform')
)
UNION ALL
SELECT h.container_id::TEXT, 'claim ' || h.name || ' (' || h.claim_id::TEXT || ') was served by class ' || coalesce(h.doc::JSONB ->> 'c', h.class_id::TEXT) || ', which is not there or of the other family'
FROM holds AS h
WHERE h.name IS NOT NULL AND h.class_id IS NOT NULL AND h.doc::JSONB -> 's' ->> 'allocationRef' IS NULL AND NOT EXISTS (
    SELECT 1 FROM known AS k
    WHERE k.id = h.class_id AND k.project || '/' || k.name = h.doc::JSONB ->> 'c' AND length(h.base)::INT8 = CASE k.af WHEN 4 THEN 4::INT8 ELSE 16::INT8 END
)
UNION ALL
SELECT h.container_id::TEXT, 'allocation ' || h.id::TEXT || ' was served by a class and is not a claim''s, or says only half of it'
FROM holds AS h
WHERE (h.class_id IS NOT NULL AND h.purpose <> 'Claim') OR (h.class_id IS NULL) <> (h.doc::JSONB ->> 'c' IS NULL)
UNION ALL
SELECT p.id::TEXT, 'pool ' || p.name || ' is looked for by another scope than it says'
FROM scoped AS p
WHERE p.scope IS NULL OR p.scope_class_id IS NULL OR p.scope_project_id IS NULL OR p.scope_key IS NULL OR p.scope -> 'class' ->> 'id' IS DISTINCT FROM p.scope_class_id::TEXT
    OR p.scope ->> 'projectId' IS DISTINCT FROM p.scope_project_id::TEXT OR p.scope ->> 'key' IS DISTINCT FROM p.scope_key
UNION ALL
SELECT p.id::TEXT, 'pool ' || p.name || ' was carved for a class that is not there, has no scopes or is of the other family, or it lists classes'
FROM scoped AS p
WHERE p.classes <> '[]' OR NOT EXISTS (
    SELECT 1 FROM known AS c
    WHERE c.id = p.scope_class_id AND c.project = p.scope -> 'class' -> 'ref' ->> 'project' AND c.name = p.scope -> 'class' -> 'ref' ->> 'name' AND c.af = p.af AND c.spec ->> 'poolPer' IS NOT NULL
)
UNION ALL
SELECT p.id::TEXT, 'pool ' || p.name || ' was carved for a scope, and not from a pool of its own project'
FROM scoped AS p
WHERE NOT EXISTS (SELECT 1 FROM pools AS t WHERE t.id = p.container_id AND t.project_id = p.project_id)
UNION ALL
SELECT p.id::TEXT, 'pool ' || p.name || ' serves a scope, and allocation ' || a.id::TEXT || ' in it is another''s'
FROM scoped AS p
JOIN holds AS a ON a.container_id = p.id
WHERE a.purpose <> 'Reservation' AND (a.purpose <> 'Claim' OR a.class_id IS DISTINCT FROM p.scope_class_id OR (a.phase <> 'CoolingDown' AND a.holder_project_id IS DISTINCT FROM p.scope_project_id))
UNION ALL
SELECT p.id::TEXT, 'pool ' || p.name || ' says since when it has been empty, and serves no scope'
FROM pools AS p
WHERE p.empty_since IS NOT NULL AND p.scope_class_id IS NULL
