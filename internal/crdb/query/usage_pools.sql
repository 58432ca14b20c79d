-- purpose: how many pools a project has within a scope
-- index:   pools_name_key
-- rows:    the project's pools
-- locks:   none
SELECT count(*)
FROM pools
WHERE project_id = $1
    AND ($2::TEXT = '' OR (parent_project = $2::TEXT AND parent_name = $3::TEXT)) AND ($4::INT8 = 0 OR length(base) = $4::INT8)
