-- +goose NO TRANSACTION
-- +goose Up
-- The class that served a claim, by id and by the names that it had. The class exists as long as the claim does, except where the claim
-- took over a block that had been retained. spec holds the reclaimPolicy that came of it, which older servers release by; reclaim_said:
-- the caller wrote that itself, as every claim of before there were classes did.
ALTER TABLE claims
    ADD COLUMN IF NOT EXISTS class_id            UUID,
    ADD COLUMN IF NOT EXISTS class_project       TEXT NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS class_name          TEXT NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS reclaim_said        BOOL NOT NULL DEFAULT true,
    ADD COLUMN IF NOT EXISTS reuse_after_seconds INT8 NOT NULL DEFAULT 0;
