-- +goose NO TRANSACTION
-- +goose Up
-- serves: deleting holds that ended long ago, project by project, the oldest first (history_expire)
CREATE INDEX IF NOT EXISTS history_until_idx ON history (region, project_id, until);
