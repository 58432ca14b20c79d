-- +goose NO TRANSACTION
-- +goose Up
-- owner: who has set the quota, the platform or the project itself; what the platform has set, the project cannot change. Quotas that are there, and
-- those that a server from before this column makes, count as the platform's: a bound that holds too much is mended by asking, one that does not hold by nobody.
ALTER TABLE quotas
    ADD COLUMN IF NOT EXISTS owner TEXT NOT NULL DEFAULT 'platform';
