-- +goose NO TRANSACTION
-- +goose Up
-- removals: projects that are gone, whose trail and history are being deleted in small transactions. Empty but for moments.
CREATE TABLE IF NOT EXISTS removals (
    project_id UUID        NOT NULL,
    CONSTRAINT removals_pkey PRIMARY KEY (project_id)
);
