-- +goose NO TRANSACTION
-- +goose Up
-- classes lists what the pool backs, in the caller's order: an id with the names that it had, which never change; pool_classes
-- finds the pools of a class. A pool that was carved for a scope has it in scope, and what finds it by that in scope_class_id,
-- scope_project_id (the project that it serves) and scope_key. A class is not deleted while such a pool exists.
-- The constraint is apart from its column: in ADD COLUMN CockroachDB would make it again where the column is there already, and refuse it.
ALTER TABLE pools
    ADD COLUMN IF NOT EXISTS classes             JSONB NOT NULL DEFAULT '[]',
    ADD COLUMN IF NOT EXISTS reuse_after_seconds INT8,
    ADD COLUMN IF NOT EXISTS scope               JSONB,
    ADD COLUMN IF NOT EXISTS scope_class_id      UUID,
    ADD COLUMN IF NOT EXISTS scope_project_id    UUID,
    ADD COLUMN IF NOT EXISTS scope_key           TEXT,
    ADD COLUMN IF NOT EXISTS empty_since         TIMESTAMPTZ;
ALTER TABLE pools DROP CONSTRAINT IF EXISTS pools_scope_class_fkey;
ALTER TABLE pools ADD CONSTRAINT pools_scope_class_fkey FOREIGN KEY (scope_class_id) REFERENCES classes (id);
