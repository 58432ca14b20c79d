-- purpose: what a project holds, before it is deleted
-- index:   pools_name_key, claims_pkey, spaces_name_key
-- rows:    all that the project holds
-- locks:   none
SELECT
    (SELECT count(*) FROM pools WHERE project_id = $2),
    (SELECT count(*) FROM claims WHERE region = $1 AND project_id = $2),
    (SELECT count(*) FROM spaces WHERE project_id = $2 AND name <> 'default')
