-- +goose NO TRANSACTION
-- +goose Up
-- pool_classes: which pools back a class; pools.classes says the same from the other side. The pools of one project that back
-- one class are one range of the key, in order of their names.
CREATE TABLE IF NOT EXISTS pool_classes (
    class_id   UUID NOT NULL,
    project_id UUID NOT NULL,
    pool_name  TEXT NOT NULL,
    pool_id    UUID NOT NULL,
    CONSTRAINT pool_classes_pkey PRIMARY KEY (class_id, project_id, pool_name, pool_id),
    CONSTRAINT pool_classes_class_fkey FOREIGN KEY (class_id) REFERENCES classes (id),
    CONSTRAINT pool_classes_pool_fkey FOREIGN KEY (pool_id) REFERENCES pools (id)
);
