-- +goose NO TRANSACTION
-- +goose Up
-- The class that served an allocation's claim, and until when a released block is kept from everybody.
-- The check is apart from its column: in ADD COLUMN CockroachDB would make it again where the column is there already, and refuse it.
ALTER TABLE allocations
    ADD COLUMN IF NOT EXISTS class_id      UUID,
    ADD COLUMN IF NOT EXISTS class_project TEXT NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS class_name    TEXT NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS cool_until    TIMESTAMPTZ;
ALTER TABLE allocations DROP CONSTRAINT IF EXISTS allocations_phases_check;
ALTER TABLE allocations ADD CONSTRAINT allocations_phases_check
    CHECK (phase IN ('Bound', 'Retained', 'CoolingDown') AND (phase = 'CoolingDown') = (cool_until IS NOT NULL));
