-- purpose: create a pool; if another transaction has already created the pool of the same scope, no row is added, and the caller reads again
-- index:   pools_pkey, pools_scope_key
-- rows:    1
-- locks:   the new row
INSERT INTO pools (
    -- @columns pool, pool_key
)
VALUES (
    -- @params pool, pool_key FROM $1
)
ON CONFLICT (scope_class_id, scope_project_id, scope_key) WHERE scope_class_id IS NOT NULL DO NOTHING
