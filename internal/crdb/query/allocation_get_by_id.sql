-- purpose: one allocation by id, if it is in a pool of the given project or the project holds it
-- index:   holds_id_key
-- rows:    1
-- locks:   none
SELECT
    -- @columns held AS a
FROM holds AS a
WHERE a.region = $1 AND a.id = $2 AND a.purpose <> 'RootPool' AND (a.project_id = $3 OR a.holder_project_id = $3)
