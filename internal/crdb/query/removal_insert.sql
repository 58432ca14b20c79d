-- purpose: record a deleted project whose audit trail and history must be deleted
-- index:   removals_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO removals (project_id)
VALUES ($1)
