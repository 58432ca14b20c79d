-- purpose: a block is bound for a claim exactly if it has the name and id of a claim; a block that cools down belonged to a claim and has an end of its cool-down; ids of claims and allocations are unique
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT h.container_id::TEXT, 'allocation ' || h.id::TEXT || ' is bound for a claim, which is not there'
FROM holds AS h
WHERE h.purpose = 'Claim' AND h.phase = 'Bound' AND (h.name IS NULL OR h.claim_id IS NULL)
UNION ALL
SELECT h.container_id::TEXT, 'allocation ' || h.id::TEXT || ' is not bound for a claim, but claim ' || coalesce(h.name, h.claim_id::TEXT) || ' holds it'
FROM holds AS h
WHERE (h.purpose <> 'Claim' OR h.phase <> 'Bound') AND (h.name IS NOT NULL OR h.claim_id IS NOT NULL)
UNION ALL
SELECT h.container_id::TEXT, 'allocation ' || h.id::TEXT || ' cools down without an end, has an end without cooling down, or was no claim''s'
FROM holds AS h
WHERE (h.phase = 'CoolingDown') <> (h.cool_until IS NOT NULL) OR (h.phase <> 'Bound' AND h.purpose <> 'Claim')
UNION ALL
SELECT min(h.container_id::TEXT), count(*)::TEXT || ' blocks are allocation ' || h.id::TEXT
FROM holds AS h
GROUP BY h.id
HAVING count(*) > 1
UNION ALL
SELECT min(h.container_id::TEXT), count(*)::TEXT || ' blocks are held by claim ' || h.claim_id::TEXT
FROM holds AS h
WHERE h.claim_id IS NOT NULL
GROUP BY h.claim_id
HAVING count(*) > 1
