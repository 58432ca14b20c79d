-- +goose NO TRANSACTION
-- +goose Up
-- serves: at most one default class for each family in a project, and finding it for claims that name nothing (class_find_default)
CREATE UNIQUE INDEX IF NOT EXISTS classes_default_key ON classes (project_id, af) WHERE is_default;
