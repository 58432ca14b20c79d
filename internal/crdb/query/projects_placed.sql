-- purpose: the projects among the given ids that exist, with each region in which they may have claims; a new claim checks its name in these regions
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
