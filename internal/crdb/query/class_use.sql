-- purpose: what names a class, before it is deleted
-- index:   pool_classes_pkey, pools_scope_key, claims_class_idx
-- rows:    all that names it
-- locks:   none
SELECT
    (SELECT count(*) FROM pool_classes WHERE class_id = $2),
    (SELECT count(*) FROM pools WHERE scope_class_id = $2 AND scope_class_id IS NOT NULL),
    (SELECT count(*) FROM claims WHERE region = $1 AND class_id = $2 AND class_id IS NOT NULL)
