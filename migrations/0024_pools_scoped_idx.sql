-- +goose NO TRANSACTION
-- +goose Up
-- serves: going through all pools that were carved for scopes, a page at a time (scoped_pool_list)
CREATE INDEX IF NOT EXISTS pools_scoped_idx ON pools (id) WHERE scope_key IS NOT NULL;
