-- +goose NO TRANSACTION
-- +goose Up
-- class_epoch is another value after every change of a project's classes, or of a pool that backs one: whoever remembers what it has read
-- of them compares it with what the project has now. NULL: nothing has changed since this column was made.
ALTER TABLE projects
    ADD COLUMN IF NOT EXISTS class_epoch UUID;
