-- +goose NO TRANSACTION
-- +goose Up
-- quotas: what a project may hold. An empty pool_name, or af 0, does not narrow what is counted; a NULL limit does not
-- bound. Pools are named, not referred to: a name stands for whichever pool has it. overdrawn: a limit is below what is
-- used, so that no shard's spare may be trusted alone. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS quotas (
    id              UUID        NOT NULL,
    project_id      UUID        NOT NULL,
    name            TEXT        NOT NULL,
    pool_project    TEXT        NOT NULL,
    pool_name       TEXT        NOT NULL,
    af              INT2        NOT NULL,
    limit_addresses DECIMAL,
    limit_claims    INT8,
    limit_pools     INT8,
    overdrawn       BOOL        NOT NULL,
    description     TEXT        NOT NULL,
    generation      INT8        NOT NULL,
    revision        UUID        NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    created_by      TEXT        NOT NULL,
    CONSTRAINT quotas_pkey PRIMARY KEY (project_id, name),
    CONSTRAINT quotas_id_key UNIQUE (id),
    CONSTRAINT quotas_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT quotas_af_check CHECK (af IN (0, 4, 6))
);
