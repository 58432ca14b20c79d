-- +goose NO TRANSACTION
-- +goose Up
-- api_keys: secrets that stand for a role in a project; of a secret only its SHA-256 is kept. Read everywhere, rarely
-- written (GLOBAL on a multi-region cluster): when a key was last used is written for many keys at once, once a minute.
-- api_keys_pkey serves authentication: the id is part of the token.
CREATE TABLE IF NOT EXISTS api_keys (
    id           UUID        NOT NULL,
    project_id   UUID        NOT NULL,
    name         TEXT        NOT NULL,
    hash         BYTEA       NOT NULL,
    role         TEXT        NOT NULL,
    description  TEXT        NOT NULL,
    expires_at   TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ,
    labels       JSONB       NOT NULL,
    annotations  JSONB       NOT NULL,
    generation   INT8        NOT NULL,
    revision     UUID        NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    created_by   TEXT        NOT NULL,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_name_key UNIQUE (project_id, name),
    CONSTRAINT api_keys_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT api_keys_role_check CHECK (role IN ('viewer', 'consumer', 'provider', 'admin'))
);
