-- purpose: delete a claim at the revision that was read; if it is not as read, it is left out of the answer
-- index:   claims_pkey
-- rows:    1
-- locks:   the row
DELETE FROM claims
WHERE region = $1 AND project_id = $2 AND name = $3 AND revision = $4
RETURNING project_id, name
