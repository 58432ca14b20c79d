-- purpose: claims and bound claim allocations match one to one, with the same block and in the same region; an allocation that is retained or cooling down has no claim, and has an end if it is cooling down
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT c.pool_id::TEXT, 'claim ' || c.name || ' (' || c.id::TEXT || ') has no allocation of its block'
FROM claims AS c
WHERE NOT EXISTS (
    SELECT 1 FROM allocations AS a
    WHERE a.region = c.region AND a.id = c.allocation_id AND a.container_id = c.pool_id AND a.project_id = c.pool_project_id AND a.base = c.base AND a.plen = c.plen
        AND a.purpose = 'Claim' AND a.phase = 'Bound' AND a.holder_project_id = c.project_id AND a.holder_name = c.name
        AND a.pool_project = c.pool_project AND a.pool_name = c.pool_name
)
UNION ALL
SELECT a.container_id::TEXT, 'allocation ' || a.id::TEXT || ' is bound to claim ' || a.holder_project || '/' || a.holder_name || ', which is not there'
FROM allocations AS a
WHERE a.purpose = 'Claim' AND a.phase = 'Bound' AND NOT EXISTS (
    SELECT 1 FROM claims AS c
    WHERE c.allocation_id = a.id AND c.project_id = a.holder_project_id AND c.name = a.holder_name
)
UNION ALL
SELECT a.container_id::TEXT, 'allocation ' || a.id::TEXT || ' is retained but claim ' || c.name || ' holds it'
FROM allocations AS a
JOIN claims AS c ON c.allocation_id = a.id
WHERE a.phase = 'Retained'
UNION ALL
SELECT a.container_id::TEXT, 'allocation ' || a.id::TEXT || ' is cooling down but claim ' || c.name || ' holds it'
FROM allocations AS a
JOIN claims AS c ON c.allocation_id = a.id
WHERE a.phase = 'CoolingDown'
UNION ALL
SELECT a.container_id::TEXT, 'allocation ' || a.id::TEXT || ' cools down without an end, has an end without cooling down, or was no claim''s'
FROM allocations AS a
WHERE (a.phase = 'CoolingDown') <> (a.cool_until IS NOT NULL) OR (a.phase = 'CoolingDown' AND a.purpose <> 'Claim')
UNION ALL
SELECT c.pool_id::TEXT, count(*)::TEXT || ' claims hold allocation ' || c.allocation_id::TEXT
FROM claims AS c
GROUP BY c.pool_id, c.allocation_id
HAVING count(*) > 1
