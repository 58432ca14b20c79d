-- purpose: one allocation of a project by id
-- index:   holds_id_key
-- rows:    1
-- locks:   none
SELECT
    -- @columns held AS a
FROM holds AS a
WHERE a.region = $1 AND a.id = $3 AND a.project_id = $2 AND a.purpose <> 'RootPool'
