-- purpose: a claim's name is unique in its project in all regions; with several regions, the project's list of regions contains every region in which it has claims
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT c.holder_project_id::TEXT, count(*)::TEXT || ' claims are called ' || c.name
FROM holds AS c
WHERE c.name IS NOT NULL
GROUP BY c.holder_project_id, c.name
HAVING count(*) > 1
UNION ALL
SELECT c.holder_project_id::TEXT, 'names are not looked for in region ' || c.region::TEXT || ', where claim ' || min(c.name) || ' is'
FROM holds AS c
WHERE c.name IS NOT NULL AND (SELECT count(*) FROM regions) > 1 AND NOT EXISTS (
    SELECT 1 FROM project_regions AS g WHERE g.project_id = c.holder_project_id AND g.region = c.region
)
GROUP BY c.holder_project_id, c.region
