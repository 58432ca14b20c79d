-- +goose NO TRANSACTION
-- +goose Up
-- There is one phase more from here on; the next step checks all of them.
ALTER TABLE allocations DROP CONSTRAINT IF EXISTS allocations_phase_check;
