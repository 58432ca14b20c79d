-- +goose NO TRANSACTION
-- +goose Up
-- The class that served an allocation's claim, and until when a released block is kept from everybody. The check comes with its
-- column, so that a step that is run again makes neither twice.
ALTER TABLE allocations
    ADD COLUMN IF NOT EXISTS class_id      UUID,
    ADD COLUMN IF NOT EXISTS class_project TEXT NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS class_name    TEXT NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS cool_until    TIMESTAMPTZ
        CONSTRAINT allocations_phases_check CHECK (phase IN ('Bound', 'Retained', 'CoolingDown') AND (phase = 'CoolingDown') = (cool_until IS NOT NULL));
