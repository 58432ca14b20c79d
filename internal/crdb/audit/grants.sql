-- purpose: the pool or space of every grant exists
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT g.subject_id::TEXT, 'grant to ' || g.consumer || ' of a ' || g.kind || ' that is not there'
FROM grants AS g
WHERE (g.kind = 'pool' AND NOT EXISTS (SELECT 1 FROM pools AS p WHERE p.id = g.subject_id))
    OR (g.kind = 'space' AND NOT EXISTS (SELECT 1 FROM spaces AS s WHERE s.id = g.subject_id))
