-- purpose: replace what can change of an allocation in the phase that was read
-- index:   allocations_pkey or allocations_id_key
-- rows:    1
-- locks:   the row
UPDATE allocations
SET phase = $7, holder_project = $8, holder_name = $9, reclaim_policy = $10, owner_ref = $11, since = $12, revision = $13, updated_at = $14,
    class_id = $15, class_project = $16, class_name = $17, cool_until = $18
WHERE region = $1 AND project_id = $2 AND container_id = $3 AND base = $4 AND id = $5 AND phase = $6
