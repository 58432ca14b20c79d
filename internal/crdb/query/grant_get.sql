-- purpose: one grant of a pool or space by consumer
-- index:   grants_pkey
-- rows:    1
-- locks:   none
SELECT g.id, g.kind, g.subject_id, g.consumer, g.generation, g.revision, g.created_at, g.updated_at, g.created_by
FROM grants AS g
WHERE g.subject_id = $1 AND g.consumer = $2
