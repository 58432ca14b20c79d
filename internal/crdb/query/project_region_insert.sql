-- purpose: record that a project may have claims in a region
-- index:   projects_pkey, project_regions_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO project_regions (project_id, region)
SELECT p.id, $2::crdb_internal_region
FROM projects AS p
WHERE p.id = $1
ON CONFLICT (project_id, region) DO NOTHING
