-- +goose NO TRANSACTION
-- +goose Up
-- members: the role of a subject in a project. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
-- members_subject_key serves authentication: all roles of one subject in one read.
CREATE TABLE IF NOT EXISTS members (
    id         UUID        NOT NULL,
    project_id UUID        NOT NULL,
    subject    TEXT        NOT NULL,
    role       TEXT        NOT NULL,
    generation INT8        NOT NULL,
    revision   UUID        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    created_by TEXT        NOT NULL,
    CONSTRAINT members_pkey PRIMARY KEY (project_id, subject),
    CONSTRAINT members_subject_key UNIQUE (subject, project_id),
    CONSTRAINT members_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT members_role_check CHECK (role IN ('viewer', 'consumer', 'provider', 'admin'))
);
