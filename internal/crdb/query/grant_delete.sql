-- purpose: revoke a grant at the revision that was read
-- index:   grants_pkey
-- rows:    1
-- locks:   the row
DELETE FROM grants
WHERE subject_id = $1 AND consumer = $2 AND revision = $3
