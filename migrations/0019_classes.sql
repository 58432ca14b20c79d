-- +goose NO TRANSACTION
-- +goose Up
-- classes: the policies for handing out address space. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
-- spec is the class as it was written, whole; af, visibility and is_default repeat what statements search by.
-- classes_name_key serves every claim that names a class.
CREATE TABLE IF NOT EXISTS classes (
    id          UUID        NOT NULL,
    project_id  UUID        NOT NULL,
    name        TEXT        NOT NULL,
    af          INT2        NOT NULL,
    visibility  TEXT        NOT NULL,
    is_default  BOOL        NOT NULL,
    spec        JSONB       NOT NULL,
    labels      JSONB       NOT NULL,
    annotations JSONB       NOT NULL,
    generation  INT8        NOT NULL,
    revision    UUID        NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    created_by  TEXT        NOT NULL,
    CONSTRAINT classes_pkey PRIMARY KEY (id),
    CONSTRAINT classes_name_key UNIQUE (project_id, name),
    CONSTRAINT classes_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT classes_af_check CHECK (af IN (4, 6)),
    CONSTRAINT classes_visibility_check CHECK (visibility IN ('platform', 'consumer', 'shared'))
);
