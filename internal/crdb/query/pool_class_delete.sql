-- purpose: delete the rows by which classes find a pool
-- index:   pool_classes_pool_idx
-- rows:    at most 32, one for each class of the pool
-- locks:   the rows
DELETE FROM pool_classes
WHERE pool_id = $1
