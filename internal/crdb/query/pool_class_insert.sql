-- purpose: add the rows by which classes find a pool
-- index:   pool_classes_pkey
-- rows:    one for each class
-- locks:   the new rows
INSERT INTO pool_classes (class_id, project_id, pool_name, pool_id)
SELECT k.class_id, $1::UUID, $2::TEXT, $3::UUID
FROM unnest($4::UUID[]) AS k (class_id)
