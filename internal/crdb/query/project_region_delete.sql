-- purpose: forget in which regions a project had claims, with the project
-- index:   project_regions_pkey
-- rows:    the project's regions
-- locks:   the rows
DELETE FROM project_regions
WHERE project_id = $1
