-- purpose: count the references to a class before it is deleted: pools that list it, pools of its scopes, claims
-- index:   pool_classes_pkey, pools_scope_key, regions_ordinal_key, holds_class_idx
-- rows:    all rows that refer to the class
-- locks:   none
SELECT
    (SELECT count(*) FROM pool_classes WHERE class_id = $1),
    (SELECT count(*) FROM pools WHERE scope_class_id = $1 AND scope_class_id IS NOT NULL),
    (
        SELECT coalesce(sum(n.claims), 0::DECIMAL)::INT8
        FROM regions AS g
        CROSS JOIN LATERAL (SELECT count(*) AS claims FROM holds AS c WHERE c.region = g.name AND c.class_id = $1 AND c.class_id IS NOT NULL AND c.name IS NOT NULL) AS n
        WHERE g.ordinal >= 0
    )
