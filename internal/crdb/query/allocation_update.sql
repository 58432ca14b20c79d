-- purpose: replace what can change of an allocation in the phase that was read
-- index:   allocations_pkey or allocations_id_key
-- rows:    1
-- locks:   the row
UPDATE allocations
SET
    -- @set allocation_hold FROM $7
WHERE region = $1 AND project_id = $2 AND container_id = $3 AND base = $4 AND id = $5 AND phase = $6
