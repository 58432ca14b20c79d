-- purpose: replace the mutable columns of a quota at the revision that was read
-- index:   quotas_pkey
-- rows:    1
-- locks:   the row
UPDATE quotas
SET
    -- @set quota_rule FROM $4
WHERE project_id = $1 AND name = $2 AND revision = $3
