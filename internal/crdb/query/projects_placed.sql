-- purpose: those of some projects that exist, each once for every region in which it may have claims: where the names of new claims are looked for
-- index:   projects_pkey, project_regions_pkey
-- rows:    one for each id and region
-- locks:   none
SELECT p.id, g.region
FROM projects AS p
LEFT JOIN LATERAL (
    SELECT t.region
    FROM project_regions AS t
    WHERE t.project_id = p.id
) AS g ON true
WHERE p.id = ANY ($1::UUID[])
