-- +goose NO TRANSACTION
-- +goose Up
-- serves: which pools of a project have one of some blocks (pool_list_covering), for the history of an address. The columns are in
-- this order so that no other look-up of pools takes this index for its own on tables that nobody has analysed.
CREATE INDEX IF NOT EXISTS pools_address_idx ON pools (plen, base, project_id);
