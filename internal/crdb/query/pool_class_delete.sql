-- purpose: delete the rows by which classes find a pool
-- index:   pool_classes_pool_idx
-- rows:    the pool's classes: 32 at most
-- locks:   the rows
DELETE FROM pool_classes
WHERE pool_id = $1
