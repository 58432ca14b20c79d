-- purpose: delete the stored states of a project's realms, with the project
-- index:   regions_ordinal_key, realms_pkey
-- rows:    mostly none
-- locks:   the rows
DELETE FROM realms
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND project_id = $1
