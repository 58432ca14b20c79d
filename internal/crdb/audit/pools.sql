-- purpose: every pool has a hold in the container from which it was carved, and every hold for a pool has its pool
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT p.container_id::TEXT, 'pool ' || p.name || ' (' || p.id::TEXT || ') is not held where it was carved from'
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
WHERE NOT EXISTS (
    SELECT 1 FROM holds AS a
    WHERE a.container_id = p.container_id AND a.base = p.base AND a.plen = p.plen AND a.project_id = p.container_project_id
        AND a.purpose = CASE p.parent_name WHEN '' THEN 'RootPool' ELSE 'ChildPool' END
        AND a.holder_project_id = p.project_id AND a.doc::JSONB ->> 'h' = o.name || '/' || p.name AND a.phase = 'Bound'
)
UNION ALL
SELECT a.container_id::TEXT, 'the hold at ' || encode(a.base, 'hex') || ' is for pool ' || coalesce(a.doc::JSONB ->> 'h', '') || ', which is not there'
FROM holds AS a
WHERE a.purpose IN ('ChildPool', 'RootPool') AND NOT EXISTS (
    SELECT 1 FROM pools AS p
    WHERE p.container_id = a.container_id AND p.base = a.base AND p.plen = a.plen AND p.project_id = a.holder_project_id AND p.name = split_part(a.doc::JSONB ->> 'h', '/', 2)
)
