-- +goose NO TRANSACTION
-- +goose Up
-- serves: how many pools were carved for a project's scopes, for its quotas (usage_pools)
CREATE INDEX IF NOT EXISTS pools_scope_project_idx ON pools (scope_project_id) WHERE scope IS NOT NULL;
