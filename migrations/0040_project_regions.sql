-- +goose NO TRANSACTION
-- +goose Up
-- project_regions: in which regions a project may have claims: where its names are looked for. A row is added by the project's first claim in a region,
-- and stays (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS project_regions (
    project_id UUID NOT NULL,
    region     crdb_internal_region NOT NULL,
    CONSTRAINT project_regions_pkey PRIMARY KEY (project_id, region)
);
