-- purpose: give a block up: it must be there
-- index:   allocations_pkey or allocations_id_key
-- rows:    1
-- locks:   the row
DELETE FROM allocations
WHERE region = $1 AND project_id = $2 AND container_id = $3 AND base = $4 AND id = $5
