-- +goose NO TRANSACTION
-- +goose Up
-- A quota that names a class counts what the class served. Classes are named, not referred to, as pools are.
ALTER TABLE quotas
    ADD COLUMN IF NOT EXISTS class_project TEXT NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS class_name    TEXT NOT NULL DEFAULT '';
