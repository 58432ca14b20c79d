-- purpose: set whether a quota is overdrawn; its revision does not change
-- index:   quotas_pkey
-- rows:    1
-- locks:   the row
UPDATE quotas
SET overdrawn = $3
WHERE project_id = $1 AND name = $2
