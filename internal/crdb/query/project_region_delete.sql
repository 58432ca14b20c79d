-- purpose: delete a project's list of regions with claims, with the project
-- index:   project_regions_pkey
-- rows:    the project's regions
-- locks:   the rows
DELETE FROM project_regions
WHERE project_id = $1
