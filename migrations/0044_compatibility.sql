-- +goose NO TRANSACTION
-- +goose Up
-- compatibility: one row that says which programs may work on this database: those that know at least the schema `minimum`. A migration that a program of
-- before it would break raises it. Read by every program when it starts, and again and again by servers (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS compatibility (
    id      INT2 NOT NULL,
    minimum INT8 NOT NULL,
    CONSTRAINT compatibility_pkey PRIMARY KEY (id),
    CONSTRAINT compatibility_id_check CHECK (id = 1)
);
