-- purpose: give blocks up: all that are named must be there
-- index:   allocations_pkey or allocations_id_key
-- rows:    one for each block
-- locks:   the rows
DELETE FROM allocations AS a
USING unnest($2::UUID[], $3::UUID[], $4::BYTEA[], $5::UUID[]) AS k (project_id, container_id, base, id)
WHERE a.region = $1 AND a.project_id = k.project_id AND a.container_id = k.container_id AND a.base = k.base AND a.id = k.id
