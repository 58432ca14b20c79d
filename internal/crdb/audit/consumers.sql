-- purpose: the number of consumers that a claim records equals the number of its attachments; every attachment has an existing claim, and a consumer that lives or is being detached; consumers are unique, and the projects of consumers and realms exist
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT h.container_id::TEXT, 'claim ' || h.name || ' says that it has ' || coalesce(h.doc::JSONB ->> 'q', '0') || ' consumers, and has ' || coalesce(a.n, 0)::TEXT
FROM holds AS h
LEFT JOIN (SELECT region, claim_id, count(*) AS n FROM attachments GROUP BY region, claim_id) AS a ON a.region = h.region AND a.claim_id = h.claim_id
WHERE h.name IS NOT NULL AND coalesce((h.doc::JSONB ->> 'q')::INT8, 0) <> coalesce(a.n, 0)
UNION ALL
SELECT a.project_id::TEXT, 'consumer ' || a.realm || '/' || a.uid || ' is attached to claim ' || a.claim_name || ', which is not there'
FROM attachments AS a
WHERE NOT EXISTS (
    SELECT 1 FROM holds AS h WHERE h.region = a.region AND h.claim_id = a.claim_id AND h.holder_project_id = a.project_id AND h.name = a.claim_name
)
UNION ALL
SELECT a.project_id::TEXT, 'consumer ' || a.realm || '/' || a.uid || ' is attached to claim ' || a.claim_name || ', and has ended or is not there'
FROM attachments AS a
WHERE NOT EXISTS (
    SELECT 1 FROM consumers AS c WHERE c.project_id = a.project_id AND c.realm = a.realm AND c.uid = a.uid AND (c.ended_at IS NULL OR c.draining)
)
UNION ALL
SELECT c.project_id::TEXT, count(*)::TEXT || ' rows are consumer ' || c.realm || '/' || c.uid
FROM consumers AS c
GROUP BY c.project_id, c.realm, c.uid
HAVING count(*) > 1
UNION ALL
SELECT c.project_id::TEXT, 'consumer ' || c.realm || '/' || c.uid || ' of a project that is not there'
FROM consumers AS c
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = c.project_id)
UNION ALL
SELECT r.project_id::TEXT, 'realm ' || r.name || ' of a project that is not there'
FROM realms AS r
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = r.project_id)
