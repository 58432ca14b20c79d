-- +goose NO TRANSACTION
-- +goose Up
-- serves: what a project holds without a claim, for its quotas (usage_retained). Few rows: only what was retained.
CREATE INDEX IF NOT EXISTS allocations_retained_idx ON allocations (region, holder_project_id) WHERE phase = 'Retained';
