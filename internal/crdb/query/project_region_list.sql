-- purpose: the regions in which a project may have claims
-- index:   project_regions_pkey
-- rows:    the project's regions
-- locks:   none
SELECT region
FROM project_regions
WHERE project_id = $1
