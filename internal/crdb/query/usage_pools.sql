-- purpose: count a project's pools within a quota's scope: its own pools except those carved for scopes, and the pools carved for its scopes
-- index:   pools_name_key, pools_scope_project_idx
-- rows:    the project's pools, and the pools for its scopes
-- locks:   none
SELECT
    (
        SELECT count(*)
        FROM pools
        WHERE project_id = $1 AND scope_class_id IS NULL AND $5::TEXT = ''
            AND ($2::TEXT = '' OR (parent_project = $2::TEXT AND parent_name = $3::TEXT)) AND ($4::INT8 = 0 OR length(base) = $4::INT8)
    ) + (
        SELECT count(*)
        FROM pools
        WHERE scope_project_id = $1 AND scope IS NOT NULL
            AND ($2::TEXT = '' OR (parent_project = $2::TEXT AND parent_name = $3::TEXT)) AND ($4::INT8 = 0 OR length(base) = $4::INT8)
            AND ($5::TEXT = '' OR (scope -> 'class' -> 'ref' ->> 'project' = $5::TEXT AND scope -> 'class' -> 'ref' ->> 'name' = $6::TEXT))
    )
