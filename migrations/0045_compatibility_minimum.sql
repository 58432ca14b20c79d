-- +goose NO TRANSACTION
-- +goose Up
-- The first value: a program of a schema before 34 knows no classes and no cool-downs, and hands out blocks that are cooling down.
INSERT INTO compatibility (id, minimum)
VALUES (1, 34)
ON CONFLICT (id) DO NOTHING;
