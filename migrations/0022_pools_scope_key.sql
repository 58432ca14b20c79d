-- +goose NO TRANSACTION
-- +goose Up
-- serves: one pool for each scope of a class, and finding it (scoped_pool_get); how many a class has (class_use, scoped_pool_count,
-- scoped_pool_count_in), and that it is not deleted before them. Of the indexes of scoped pools each has a condition of its own, so
-- that no look-up takes another's on tables that nobody has analysed.
CREATE UNIQUE INDEX IF NOT EXISTS pools_scope_key ON pools (scope_class_id, scope_project_id, scope_key) WHERE scope_class_id IS NOT NULL;
